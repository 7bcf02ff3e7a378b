import { useEffect, useState } from "preact/hooks";
import type { Client } from "../../src/client/client.ts";
import { isAbort } from "../failure-text.ts";
import type { CheckedFile } from "./check-file.ts";
import { previewImport } from "./forecast.ts";
import type { Forecast } from "./forecast.ts";
import { importFailureText } from "./import-failure.ts";
import type { OnConflict } from "./send-file.ts";

/** What the service says of a file so far, or why it cannot. */
export type AskedForecast = Readonly<{ forecast?: Forecast; failure?: string }>;

type ForecastOptions = Readonly<{ client: Client; onConflict: OnConflict }>;

/** Asks the service what an import of this file would do, anew for each file and choice. */
export function useForecast(checked: CheckedFile | undefined, { client, onConflict }: ForecastOptions): AskedForecast {
  const [told, setTold] = useState<AskedForecast>({});
  useEffect(() => {
    setTold({});
    if (!checked || checked.failure !== undefined) return undefined;
    const asking = new AbortController();
    previewImport(checked, { client, onConflict, signal: asking.signal, onForecast: (forecast) => setTold({ forecast }) }).catch(
      (thrown: unknown) => {
        if (!isAbort(thrown)) setTold({ failure: importFailureText(thrown) });
      },
    );
    return () => asking.abort();
  }, [checked, onConflict]);
  return told;
}
