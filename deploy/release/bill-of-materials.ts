// What a release is made of, as CycloneDX: the packages in it with their versions, sums and licences, and what Bun is linked with.
import { run } from "./archive.ts";
import { shippedPackages } from "./licences.ts";
import { PLATFORMS } from "./platforms.ts";
import { PROJECT } from "./project.ts";
import { runtimeParts } from "./runtime-parts.ts";

type Component = Readonly<{ "bom-ref": string; name: string; version?: string; properties?: readonly unknown[] }>;
type Dependency = Readonly<{ ref: string; dependsOn: readonly string[] }>;
type Bill = Readonly<{
  serialNumber?: string;
  metadata: Readonly<{ component: Component; timestamp: string }>;
  components: readonly Component[];
  dependencies: readonly Dependency[];
}>;

/** npm's own bill, without what only development needs, a random number, and the time. `epoch` is in seconds. */
export function billOfMaterials(epoch: number): string {
  const flags = ["--prefix", PROJECT, "--sbom-format", "cyclonedx", "--package-lock-only"];
  const { serialNumber: _, ...bill } = JSON.parse(run("npm", ["sbom", ...flags])) as Bill;
  const shipped = new Set([...shippedPackages(), ...Object.values(PLATFORMS).map(({ runtime }) => runtime)]);
  const components = bill.components.filter(({ name }) => shipped.has(name)).map(withoutProperties);
  const top = bill.metadata.component;
  const kept = new Set([top, ...components].map((component) => component["bom-ref"]));
  const dependencies = bill.dependencies
    .filter(({ ref }) => kept.has(ref))
    .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((other) => kept.has(other)) }));
  const runtime = components.find(({ name, version }) => name === "bun" && version === process.versions["bun"]);
  if (!runtime) throw new Error("The runtime of this release is not the one that runs this: run npm ci.");
  const parts = runtimeParts(process.versions);
  // npm takes the name of the folder.
  const component = { ...withoutProperties(top), type: "application", name: "plant-store" };
  const metadata = { ...bill.metadata, timestamp: new Date(epoch * 1000).toISOString(), component };
  const linked = { ref: runtime["bom-ref"], dependsOn: parts.map((part) => part["bom-ref"]) };
  const whole = { ...bill, metadata, components: [...components, ...parts], dependencies: merge(dependencies, linked) };
  return `${JSON.stringify(whole, undefined, 2)}\n`;
}

/** They say what npm does with a package: that one is optional, or for development. */
function withoutProperties(component: Component): Component {
  return { ...component, properties: [] };
}

/** A reference stands once, with all that it depends on. */
function merge(dependencies: readonly Dependency[], { ref, dependsOn }: Dependency): readonly Dependency[] {
  return dependencies.map((one) => (one.ref === ref ? { ref, dependsOn: [...one.dependsOn, ...dependsOn] } : one));
}
