const LOOPBACK = "localhost,127.0.0.1,::1,[::1]";

/** The runtime sends requests through HTTP_PROXY even if they are for this machine, which the proxy would look for on its own. */
export function reachLoopbackDirectly(environment: NodeJS.ProcessEnv): void {
  const { NO_PROXY = "", no_proxy = "" } = environment;
  const names = [NO_PROXY, no_proxy, LOOPBACK].filter((text) => text !== "").join(",");
  Object.assign(environment, { NO_PROXY: names, no_proxy: names });
}
