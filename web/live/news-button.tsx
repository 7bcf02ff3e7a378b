import { useEffect, useRef, useState } from "preact/hooks";
import { count } from "../catalogue/bulk-text.ts";
import type { Catalogue } from "../catalogue/catalogue.ts";
import { useValue } from "../state.ts";
import { useOwnStyle } from "../ui/own-style.ts";
import css from "./news-button.css" with { type: "text" };
import type { News } from "./news.ts";

/** How long after it comes a number is read out, and the next one after that. */
const SPOKEN_MS = 1_000;
const SPOKEN_AGAIN_MS = 10_000;

/** Says what others changed that the list does not show, and shows it. It lies over the words beside it, so that no row moves. */
export function NewsButton({ catalogue }: Readonly<{ catalogue: Catalogue }>) {
  useOwnStyle(css);
  const news = useValue(catalogue.news);
  const text = news ? newsText(news) : "";
  const spoken = useSpoken(text);
  return (
    <>
      {news ? (
        <button class="button news-button" type="button" title="Show the list as it is now" onClick={() => void catalogue.readAgain()}>
          {text}
        </button>
      ) : null}
      <p class="unseen" role="status">
        {spoken}
      </p>
    </>
  );
}

/** What is read out: not each number while many come. */
function useSpoken(text: string): string {
  const [spoken, setSpoken] = useState("");
  const latest = useRef(text);
  latest.current = text;
  const next = useRef(0);
  const isNews = text !== "";
  useEffect(() => {
    const waitMs = Math.max(SPOKEN_MS, next.current - performance.now());
    const timer = setTimeout(() => {
      next.current = performance.now() + SPOKEN_AGAIN_MS;
      setSpoken(latest.current);
    }, waitMs);
    return () => clearTimeout(timer);
  }, [isNews, spoken === text]);
  return isNews ? spoken : "";
}

/** "3 new plants, 2 plants gone": where it is more than that, there is no room for all on a phone. */
function newsText({ appeared, gone, moved, isCut }: News): string {
  if (isCut) return "Many plants have changed";
  const parts = [
    appeared > 0 ? count(appeared).replace(" ", " new ") : "",
    gone.size > 0 ? `${count(gone.size)} gone` : "",
    moved > 0 ? `${count(moved)} moved` : "",
  ];
  const some = parts.filter((part) => part !== "");
  return some.length < parts.length ? some.join(", ") : `${count(appeared + gone.size + moved)} have changed`;
}
