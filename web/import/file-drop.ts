import { useEffect } from "preact/hooks";

type DropOptions = Readonly<{
  /** A file is dragged over the page; it is told again and again. */
  onNear: () => void;
  /** The first file that was dropped, and how many others there were. */
  onFile: (file: File, others: number) => void;
}>;

/** Takes a file that is dropped anywhere on the page, which the browser would otherwise open in the place of it. */
export function useDrop({ onNear, onFile }: DropOptions): void {
  useEffect(() => {
    function allow(event: DragEvent): void {
      if (event.dataTransfer?.types.includes("Files") !== true) return;
      event.preventDefault();
      onNear();
    }
    function take(event: DragEvent): void {
      const [file, ...others] = event.dataTransfer?.files ?? [];
      if (!file) return;
      event.preventDefault();
      onFile(file, others.length);
    }
    addEventListener("dragover", allow);
    addEventListener("drop", take);
    return () => {
      removeEventListener("dragover", allow);
      removeEventListener("drop", take);
    };
  }, []);
}
