import type { Address, Clock } from '@trunkline/client'
import { createContext } from 'preact'
import { useContext } from 'preact/hooks'
import type { Account } from '../api.ts'
import type { Cell } from '../cell.ts'
import type { Devices } from '../devices.ts'
import type { Extras } from '../extras.ts'
import type { RecentCalls } from '../memory.ts'
import type { Microphone } from '../microphone.ts'
import type { People } from '../people.ts'
import type { Phone } from '../phone.ts'
import type { Ui } from './ui.ts'

/** Models and actions of the views of a signed-in user. */
export interface Page {
  readonly account: Account
  readonly phone: Phone
  readonly people: People
  /** Search for suggestions while the user types a destination. */
  readonly finder: People
  readonly recents: RecentCalls
  readonly devices: Devices
  readonly microphone: Microphone
  /** Undefined until their code is loaded. */
  readonly extras: Extras | undefined
  readonly clock: Clock
  readonly audio: () => AudioContext
  readonly ui: Ui
  /** Changes with every change of a model or of the user's view. */
  readonly version: Cell<number>
  readonly setOnline: (online: boolean) => void
  readonly signOut: () => void
  /** Opens the conversation with an entry of the address book. */
  readonly write: (address: Pick<Address, 'id' | 'display_name'>) => void
}

/** Context of the views below the screen. */
export const PageContext = createContext<Page | undefined>(undefined)

/** Returns the page. The screen draws all its views again after each change. */
export const usePage = (): Page => {
  const page = useContext(PageContext)
  if (!page) throw new Error('no page')
  return page
}

/** Returns the extras. Views that use them are shown only after they were loaded. */
export const useExtras = (): Extras => {
  const { extras } = usePage()
  if (!extras) throw new Error('extras not loaded')
  return extras
}
