import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { Notices } from "../notices.ts";
import { Button } from "./button.tsx";
import { Dialog } from "./dialog.tsx";
import { Problem } from "./form.tsx";

/** A browser may remember the failure, and a service that was updated no longer has the code. */
const LOST_CODE = "This part of the page could not be loaded: the connection is gone, or the service was updated. Reload the page.";

type LaterProps<Props> = Readonly<{
  /** Loads what most visits do not need. Asked for once. */
  load: () => Promise<ComponentType<Props>>;
  props: Props;
  title: string;
  notices: Notices;
  onClose: () => void;
}>;

/** Shows a view as soon as its code is there, or why it cannot. */
export function Later<Props extends object>({ load, props, title, notices, onClose }: LaterProps<Props>) {
  const [loaded, setLoaded] = useState<Readonly<{ View: ComponentType<Props> }>>();
  const [isFailed, setFailed] = useState(false);
  useEffect(() => {
    load().then(
      (View) => setLoaded({ View }),
      () => setFailed(true),
    );
  }, []);
  if (loaded) return <loaded.View {...props} />;
  if (!isFailed) return null;
  return (
    <Dialog title={title} notices={notices} onClose={onClose}>
      <Problem text={LOST_CODE} />
      <footer>
        <Button label="Reload the page" class="primary" onClick={() => location.reload()} />
      </footer>
    </Dialog>
  );
}
