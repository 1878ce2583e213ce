// What a group of GROUP work-items finds together.

#define GROUP 64
#define GROUP_RESULT(name, type, of)                                           \
  inline type name(__local type* part, type v) {                              \
    const int id = get_local_id(0);                                           \
    part[id] = v;                                                             \
    barrier(CLK_LOCAL_MEM_FENCE);                                             \
    for (int step = GROUP / 2; step > 0; step /= 2) {                         \
      if (id < step) part[id] = of(part[id], part[id + step]);                \
      barrier(CLK_LOCAL_MEM_FENCE);                                           \
    }                                                                         \
    const type r = part[0];                                                   \
    barrier(CLK_LOCAL_MEM_FENCE);                                             \
    return r;                                                                 \
  }
#define SUM_OF(a, b) ((a) + (b))
#define PRODUCT_OF(a, b) ((a) * (b))
#define MOST_OF(a, b) ((b) > (a) || isnan(b) ? (b) : (a))
GROUP_RESULT(group_sum, float, SUM_OF)
GROUP_RESULT(group_product, float, PRODUCT_OF)
GROUP_RESULT(group_max, float, MOST_OF)
GROUP_RESULT(group_total, long, SUM_OF)
GROUP_RESULT(group_most, int, max)
