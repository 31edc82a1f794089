import type { Signal } from '@preact/signals'
import type { Address, Clock } from '@trunkline/client'
import { createContext } from 'preact'
import { useContext } from 'preact/hooks'
import type { Account } from '../api.ts'
import type { Chats } from '../chats.ts'
import type { Devices } from '../devices.ts'
import type { RecentCalls } from '../memory.ts'
import type { Microphone } from '../microphone.ts'
import type { People } from '../people.ts'
import type { Phone } from '../phone.ts'
import type { PeoplePresence } from '../presence.ts'
import type { BrowserPush } from '../push/browser-push.ts'
import type { Ui } from './ui.ts'

/** Models and actions of the views of a signed-in user. */
export interface Page {
  readonly account: Account
  readonly phone: Phone
  readonly people: People
  /** Search for suggestions while the user types a destination. */
  readonly finder: People
  readonly presence: PeoplePresence
  readonly chats: Chats
  readonly recents: RecentCalls
  readonly devices: Devices
  readonly microphone: Microphone
  readonly push: BrowserPush
  readonly clock: Clock
  readonly audio: () => AudioContext
  readonly ui: Ui
  /** Changes with every change of a model. */
  readonly version: Signal<number>
  readonly setOnline: (online: boolean) => void
  readonly signOut: () => void
  /** Opens the conversation with an entry of the address book. */
  readonly write: (address: Pick<Address, 'id' | 'display_name'>) => void
}

/** Context of the views below the screen. */
export const PageContext = createContext<Page | undefined>(undefined)

/** Returns the page. The view is drawn again after every change of a model. */
export const usePage = (): Page => {
  const page = useContext(PageContext)
  if (!page) throw new Error('no page')
  void page.version.value
  return page
}
