/**
 * The result of this work; that of `onLate` if it takes longer than so many milliseconds. What comes later is dropped, a
 * rejection too.
 */
export async function withTimeLimit<Result, Late>(limitMs: number, work: Promise<Result>, onLate: () => Late): Promise<Result | Late> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<void>((resolve) => (timer = setTimeout(resolve, limitMs)));
  try {
    return await Promise.race([work, late.then(onLate)]);
  } finally {
    clearTimeout(timer);
  }
}
