// Loaded before a service that a test starts as a process.
import { stretchLimits } from "./patience.ts";

stretchLimits();
