/**
 * The reason that a promise rejects with. Bun's `expect(...).rejects` runs the event loop inside itself, where
 * `setImmediate` never fires; a group commit would wait forever.
 */
export async function rejectionOf(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise;
  } catch (reason) {
    return reason;
  }
  throw new Error("The promise was expected to reject, but it resolved.");
}
