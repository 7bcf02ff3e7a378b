import { useEffect } from "preact/hooks";

/** Takes a file that is dropped anywhere on the page, which the browser would otherwise open in the place of it. */
export function useDrop(onFile: (file: File) => void): void {
  useEffect(() => {
    function allow(event: DragEvent): void {
      if (event.dataTransfer?.types.includes("Files") === true) event.preventDefault();
    }
    function take(event: DragEvent): void {
      const file = event.dataTransfer?.files[0];
      if (!file) return;
      event.preventDefault();
      onFile(file);
    }
    addEventListener("dragover", allow);
    addEventListener("drop", take);
    return () => {
      removeEventListener("dragover", allow);
      removeEventListener("drop", take);
    };
  }, []);
}
