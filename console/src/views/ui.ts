import { type Signal, signal } from '@preact/signals'
import type { Address } from '@trunkline/client'

/** Tabs of the page. `phone` is a tab only on a narrow page; otherwise it is always visible. */
export type Tab = 'phone' | 'people' | 'recents' | 'chats' | 'settings'

/** Dialogs of the page. */
export type DialogName = 'help' | 'devices' | 'transfer'

/** Person, telephone or number whose details are shown. */
export interface Contact {
  readonly name: string
  /** Destination to call. */
  readonly to: string
  /** Entry of the address book, if it is known. */
  readonly address?: Address
}

const watch = (query: string, signalOf: AbortSignal): Signal<boolean> => {
  const list = matchMedia(query)
  const found = signal(list.matches)
  list.addEventListener(
    'change',
    () => {
      found.value = list.matches
    },
    { signal: signalOf },
  )
  return found
}

/** State of the views: what the user has opened. */
export class Ui {
  readonly tab = signal<Tab>('phone')
  readonly dialog = signal<DialogName | undefined>(undefined)
  readonly menu = signal(false)
  readonly contact = signal<Contact | undefined>(undefined)
  /** Text of the dial box. */
  readonly typed = signal('')
  /** Phone width: one pane at a time. */
  readonly narrow: Signal<boolean>
  /** Room for three columns. */
  readonly wide: Signal<boolean>

  /** `closed` ends the watch of the window's width. */
  constructor(closed: AbortSignal) {
    this.narrow = watch('(max-width: 820px)', closed)
    this.wide = watch('(min-width: 1280px)', closed)
  }
}
