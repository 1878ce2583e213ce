/* Marks what libmote exports. Define MOTE_SHARED when linking with the shared library on Windows. */
#ifndef MOTE_API_EXPORT_H_
#define MOTE_API_EXPORT_H_

#if defined(_WIN32) && defined(MOTE_BUILDING_SHARED)
#define MOTE_EXPORT __declspec(dllexport)
#elif defined(_WIN32) && defined(MOTE_SHARED)
#define MOTE_EXPORT __declspec(dllimport)
#elif defined(__GNUC__)
#define MOTE_EXPORT __attribute__((visibility("default")))
#else
#define MOTE_EXPORT
#endif

#endif /* MOTE_API_EXPORT_H_ */
