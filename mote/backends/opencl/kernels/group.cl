// What a group of GROUP work-items finds together.

#define GROUP 64

inline float group_sum(__local float* part, float v) {
  const int id = get_local_id(0);
  part[id] = v;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int step = GROUP / 2; step > 0; step /= 2) {
    if (id < step) part[id] += part[id + step];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  const float r = part[0];
  barrier(CLK_LOCAL_MEM_FENCE);
  return r;
}
inline float group_max(__local float* part, float v) {
  const int id = get_local_id(0);
  part[id] = v;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int step = GROUP / 2; step > 0; step /= 2) {
    if (id < step && (part[id + step] > part[id] || isnan(part[id + step]))) part[id] = part[id + step];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  const float r = part[0];
  barrier(CLK_LOCAL_MEM_FENCE);
  return r;
}
