import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, it } from "bun:test";
import { plantBugs } from "../support/planted.ts";
import { PROJECT } from "../support/process.ts";
import { startTestService } from "../support/service.ts";

const service = await startTestService();
afterAll(() => service.stop());

const readme = readFileSync(join(PROJECT, "README.md"), "utf8");

it("the program of the README runs as it stands there, and finds what it has just created in a new store", async () => {
  const [, program = ""] = /```ts\n(.*?)```/s.exec(readme) ?? [];
  // In a copy of the project, as the package knows itself by its name only there.
  const path = join(plantBugs([]), "readme.ts");
  writeFileSync(path, program);
  const environment = { ...process.env, PLANT_STORE_URL: service.url, PLANT_STORE_TOKEN: service.token };
  let output = "";
  const child = spawn(process.execPath, [path], { env: environment, stdio: ["ignore", "pipe", "inherit"] });
  child.stdout.on("data", (chunk) => (output += String(chunk)));
  expect((await once(child, "close"))[0]).toBe(0);
  expect(output).toBe("9223372036854775807n Ginkgo biloba\n");
});

it("every address of the README is one that the service answers", async () => {
  const requests = [...readme.matchAll(/^plants (?:-i )?(?:-X (\w+) -d '(.*?)' |-X (\w+) )?'?http:\/\/127\.0\.0\.1:8080([^'\s]+)/gm)];
  expect(requests.length).toBeGreaterThan(6);
  await service.post('{"id":1,"name":"Monstera deliciosa","tag":"tropical"}');
  for (const [, change, body, other, path] of requests) {
    const headers = body === undefined ? {} : { "content-type": "application/json" };
    const response = await service.request(path!, { method: change ?? other ?? "GET", headers, ...(body === undefined ? {} : { body }) });
    expect(response.status, path).toBeLessThan(300);
    await response.arrayBuffer();
  }
});
