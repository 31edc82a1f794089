import type { PresenceState } from '@trunkline/client'
import { colourOf, initials } from '../format.ts'
import { texts } from '../texts/language.ts'
import { Icon, type IconName } from './icon.tsx'

/** Properties of an {@link Avatar}. */
export interface AvatarProps {
  readonly name: string
  readonly size?: string
  /** Presence of the person, as a dot; undefined for none. */
  readonly presence?: PresenceState | undefined
}

/** Picture of a person: initials on a colour that belongs to the name. */
export const Avatar = ({ name, size = '', presence }: AvatarProps) => (
  <span
    class={`avatar tint-${colourOf(name)} ${size}`}
    data-initials={initials(name)}
    data-presence={presence}
    aria-hidden="true"
  />
)

/** Properties of an {@link IconButton}. */
export interface IconButtonProps {
  readonly icon: IconName
  readonly label: string
  readonly press: () => void
  readonly testId?: string
  readonly class?: string
  readonly disabled?: boolean
  /** State of a toggle button. */
  readonly pressed?: boolean
  readonly expanded?: boolean
}

/** Button with an icon only; its label is also the tooltip. */
export const IconButton = ({
  icon,
  label,
  press,
  testId,
  pressed,
  expanded,
  disabled,
  ...rest
}: IconButtonProps) => (
  <button
    type="button"
    class={`icon-button ${rest.class ?? ''}`}
    aria-label={label}
    title={label}
    aria-pressed={pressed}
    aria-expanded={expanded}
    disabled={disabled}
    data-testid={testId}
    onClick={press}
  >
    <Icon name={icon} />
  </button>
)

/** Properties of a {@link Switch}. */
export interface SwitchProps {
  readonly id: string
  readonly label: string
  readonly on: boolean
  readonly disabled?: boolean
  readonly testId: string
  readonly change: (on: boolean) => void
}

/** Switch with its label. */
export const Switch = ({ id, label, on, disabled, testId, change }: SwitchProps) => (
  <div class="switched">
    <label for={id}>{label}</label>
    <button
      type="button"
      id={id}
      class="switch"
      role="switch"
      aria-checked={on}
      disabled={disabled}
      data-testid={testId}
      onClick={() => change(!on)}
    >
      <span class="knob" />
    </button>
  </div>
)

/** Rows in place of a list that is being loaded. */
export const Skeleton = () => (
  <div class="skeleton">
    <p class="aside" role="status">
      {texts.value.loading}
    </p>
    {[0, 1, 2, 3].map((row) => (
      <div key={row} aria-hidden="true">
        <i />
        <b />
      </div>
    ))}
  </div>
)
