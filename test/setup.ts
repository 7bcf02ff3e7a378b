import { afterAll } from "bun:test";
import { removeTemporaryFolders } from "./folder.ts";

// Loaded before all test files (bunfig.toml), so it runs after the last of them.
afterAll(removeTemporaryFolders);
