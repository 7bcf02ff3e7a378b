/**
 * In a container the service is process 1, to which the kernel sends no signal that has no handler. So a stop would be
 * ignored until the service is ready, which takes minutes while an index is built. The first import of main.ts, because
 * loading the others takes a moment too. What was stored is safe wherever a process ends. Everything that ends in a way
 * of its own has a handler, and is left to that.
 */
if (process.pid === 1)
  for (const [signal, status] of [
    ["SIGTERM", 143],
    ["SIGINT", 130],
  ] as const)
    process.on(signal, () => {
      // A service that is told to stop has done nothing wrong. A command is not done.
      if (process.listenerCount(signal) === 1) process.exit(process.argv[2] === "serve" ? 0 : status);
    });
