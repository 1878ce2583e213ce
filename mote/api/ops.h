/* The operators this library has. mote.h has the rules that hold for all of it. */
#ifndef MOTE_API_OPS_H_
#define MOTE_API_OPS_H_

#include <stdint.h>

#include "mote/api/export.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Names of built-in operators ("mote::abs"), from 0 on; NULL behind the last one. A selective build has fewer. */
MOTE_EXPORT const char* mote_op_name(uint32_t index);

#ifdef __cplusplus
}
#endif

#endif /* MOTE_API_OPS_H_ */
