import type { Address } from '@trunkline/client'
import { Cell } from '../cell.ts'

/** Tabs of the page. `phone` is a tab only on a narrow page; otherwise it is always visible. */
export type Tab = 'phone' | 'people' | 'recents' | 'chats' | 'settings'

/** Dialogs of the page. */
export type DialogName = 'help' | 'devices' | 'transfer' | 'add'

/** Person, telephone or number whose details are shown. */
export interface Contact {
  readonly name: string
  /** Destination to call. */
  readonly to: string
  /** Entry of the address book, if it is known. */
  readonly address?: Address
}

/** State of the views: what the user has opened. */
export class Ui {
  readonly tab: Cell<Tab>
  readonly dialog: Cell<DialogName | undefined>
  readonly menu: Cell<boolean>
  readonly contact: Cell<Contact | undefined>
  /** Text of the dial box. */
  readonly typed: Cell<string>
  /** Phone width: one pane at a time. */
  readonly narrow: Cell<boolean>
  /** Room for three columns. */
  readonly wide: Cell<boolean>

  /** `changed` runs after each change; `closed` ends the watch of the window's width. */
  constructor(changed: () => void, closed: AbortSignal) {
    const cell = <Value>(value: Value): Cell<Value> => {
      const made = new Cell(value)
      made.follow(changed)
      return made
    }
    const watched = (query: string): Cell<boolean> => {
      const list = matchMedia(query)
      const made = cell(list.matches)
      const update = () => {
        made.value = list.matches
      }
      list.addEventListener('change', update, { signal: closed })
      return made
    }
    this.tab = cell<Tab>('phone')
    this.dialog = cell<DialogName | undefined>(undefined)
    this.menu = cell(false)
    this.contact = cell<Contact | undefined>(undefined)
    this.typed = cell('')
    this.narrow = watched('(max-width: 820px)')
    this.wide = watched('(min-width: 1280px)')
  }
}
