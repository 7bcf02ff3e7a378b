// What a release is made of, as CycloneDX: the packages in it with their versions, sums and licences.
import { run } from "./archive.ts";
import { shippedPackages } from "./licences.ts";
import { PLATFORMS } from "./platforms.ts";
import { PROJECT } from "./project.ts";

type Component = Readonly<{ "bom-ref": string; name: string; properties?: readonly unknown[] }>;
type Bill = Readonly<{
  serialNumber?: string;
  metadata: Readonly<{ component: Component; timestamp: string }>;
  components: readonly Component[];
  dependencies: readonly Readonly<{ ref: string; dependsOn: readonly string[] }>[];
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
  // npm takes the name of the folder.
  const component = { ...withoutProperties(top), type: "application", name: "plant-store" };
  const metadata = { ...bill.metadata, timestamp: new Date(epoch * 1000).toISOString(), component };
  return `${JSON.stringify({ ...bill, metadata, components, dependencies }, undefined, 2)}\n`;
}

/** They say what npm does with a package: that one is optional, or for development. */
function withoutProperties(component: Component): Component {
  return { ...component, properties: [] };
}
