import { dlopen, FFIType } from "bun:ffi";

/**
 * clock_gettime(2). The runtime has the time of a thread too (`process.threadCpuUsage`), but brings it up to date only
 * every few milliseconds.
 */
const libc = dlopen("libc.so.6", { clock_gettime: { args: [FFIType.i32, FFIType.ptr], returns: FFIType.i32 } });
const CLOCK_THREAD_CPUTIME_ID = 3;
const timespec = new BigInt64Array(2);

/**
 * How long this thread has had a processor, in milliseconds: other programs and threads, such as the garbage
 * collector's, do not count. Only Linux has it.
 */
export function threadMs(): number {
  libc.symbols.clock_gettime(CLOCK_THREAD_CPUTIME_ID, timespec);
  return Number(timespec[0]) * 1000 + Number(timespec[1]) / 1e6;
}
