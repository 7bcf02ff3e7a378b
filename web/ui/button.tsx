import type { ComponentProps } from "preact";
import { Icon } from "./icon.tsx";
import type { IconName } from "./icon.tsx";

type ButtonProps = Omit<ComponentProps<"button">, "class"> & Readonly<{ label: string; class?: string | undefined }>;

/** `class`: what it is besides a button, such as primary. */
export function Button({ label, class: kind, ...more }: ButtonProps) {
  return (
    <button type="button" {...more} class={kind === undefined ? "button" : `button ${kind}`}>
      {label}
    </button>
  );
}

/** A picture alone: its label is read out. */
export function IconButton({ icon, label, ...more }: ButtonProps & Readonly<{ icon: IconName }>) {
  return (
    <button class="button quiet square" type="button" aria-label={label} {...more}>
      <Icon name={icon} />
    </button>
  );
}

export function LinkButton({ label, ...more }: ButtonProps) {
  return (
    <button class="link" type="button" {...more}>
      {label}
    </button>
  );
}
