/* Start-up in the way of CMSIS: the vector table, Reset_Handler, SystemInit. Copy it with the linker script, or use your vendor's. */

#include <stdint.h>

extern uint32_t __stack_top, __data_load, __data_start, __data_end, __bss_start, __bss_end;
int main(void);
void console_exit(int code);

#define CPACR (*(volatile uint32_t*)0xe000ed88)
#define CCR (*(volatile uint32_t*)0xe000ed14)

/* Floating point (and Helium) on; on Armv8.1-M the low-overhead loops too, which its kernels use. */
__attribute__((weak)) void SystemInit(void) {
  CPACR |= 0xfu << 20;
#if defined(__ARM_FEATURE_MVE)
  CCR |= 1u << 19;
#endif
  __asm volatile("dsb\n isb" ::: "memory");
}

__attribute__((noreturn)) void Reset_Handler(void) {
  const uint32_t* from = &__data_load;
  SystemInit();
  for (uint32_t* to = &__data_start; to < &__data_end;) *to++ = *from++;
  for (uint32_t* to = &__bss_start; to < &__bss_end;) *to++ = 0;
  console_exit(main());
  for (;;) {
  }
}

static void Default_Handler(void) { console_exit(99); }

/* Your peripherals' interrupts follow here. */
__attribute__((section(".vectors"), used)) const uintptr_t __vectors[16] = {
    (uintptr_t)&__stack_top,     (uintptr_t)Reset_Handler,   (uintptr_t)Default_Handler, (uintptr_t)Default_Handler,
    (uintptr_t)Default_Handler,  (uintptr_t)Default_Handler, (uintptr_t)Default_Handler, (uintptr_t)Default_Handler,
    0,                           0,                          0,                          (uintptr_t)Default_Handler,
    (uintptr_t)Default_Handler,  0,                          (uintptr_t)Default_Handler, (uintptr_t)Default_Handler};
