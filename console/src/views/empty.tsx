import type { ComponentChildren } from 'preact'
import { Icon, type IconName } from './icon.tsx'

/** Empty state of a list, with an action. */
export const Empty = ({
  icon,
  text,
  children,
}: {
  readonly icon: IconName
  readonly text: string
  readonly children?: ComponentChildren
}) => (
  <div class="empty">
    <Icon name={icon} />
    <p role="status">{text}</p>
    {children}
  </div>
)
