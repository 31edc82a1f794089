import type { CallState, Clock } from '@trunkline/client'
import type { Account } from '../api.ts'
import type { Chats } from '../chats.ts'
import type { Devices } from '../devices.ts'
import { button, element, setText, show } from '../dom.ts'
import { icon } from '../icons.ts'
import type { RecentCalls } from '../memory.ts'
import type { People } from '../people.ts'
import type { Phone } from '../phone.ts'
import type { BrowserPush } from '../push/browser-push.ts'
import type { Ringer } from '../ringer.ts'
import { activeView } from './active.ts'
import { chatsView } from './chats.ts'
import { dialView } from './dial.ts'
import { headerView } from './header.ts'
import { heldView } from './held.ts'
import { incomingView } from './incoming.ts'
import { peopleView } from './people.ts'
import { recentsView } from './recents.ts'
import { type SettingsDeps, settingsView } from './settings.ts'
import { type Tab, tabsView } from './tabs.ts'

const labels: Readonly<Record<CallState, string>> = {
  new: 'Preparing the call…',
  setup: 'Preparing the call…',
  trying: 'Calling…',
  ringing: 'Ringing…',
  early: 'Ringing…',
  active: 'In call',
  held: 'On hold',
  ended: '',
}

/** Collaborators of the screen. */
export interface ScreenDeps {
  readonly account: Account
  readonly phone: Phone
  readonly people: People
  readonly chats: Chats
  readonly recents: RecentCalls
  readonly devices: Devices
  readonly push: BrowserPush
  readonly ringer: Ringer
  readonly clock: Clock
  readonly audio: () => AudioContext
  readonly theme: SettingsDeps['theme']
  readonly setOnline: (online: boolean) => void
  readonly signOut: () => void
}

/** Screen after the sign-in. */
export interface Screen {
  readonly element: HTMLElement
  update(): void
  /** Releases the screen's own resources. */
  close(): void
}

const stateView = (phone: Phone) => {
  const state = element('p', { class: 'call-state', role: 'status', 'data-testid': 'call-state' })
  return {
    element: state,
    update() {
      const waiting = phone.incoming[0]
      const call = phone.current?.call.state
      const broken = phone.current?.broken && phone.current.call.active
      state.dataset.state = call ?? (waiting ? 'incoming' : 'idle')
      const text = broken ? 'Connection lost. Reconnecting the call…' : call && labels[call]
      setText(state, text ?? (waiting ? `Incoming call from ${waiting.name}` : 'Ready'))
    },
  }
}

const noticeView = (phone: Phone) => {
  const text = element('p', { role: 'status', 'data-testid': 'notice' })
  const close = button({ class: 'dismiss', 'aria-label': 'Dismiss' }, () => phone.dismiss(), icon('close'))
  const view = element('div', { class: 'notice' }, text, close)
  return {
    element: view,
    update() {
      view.className = `notice ${phone.notice?.tone ?? 'plain'}`
      setText(text, phone.notice?.text ?? '')
      show(view, phone.notice !== undefined)
    },
  }
}

const titleOf = ({ incoming: [waiting], current }: Phone, unread: number): string => {
  const name = waiting ? `☎ ${waiting.name}` : current?.name
  const page = unread > 0 ? `(${unread}) Trunkline` : 'Trunkline'
  return name ? `${name} - ${page}` : page
}

/** Creates the screen after the sign-in. */
export const screenView = (deps: ScreenDeps): Screen => {
  const { account, phone, people, chats, recents, ringer, clock } = deps
  const now = () => clock.now()
  let tab: Tab = 'phone'
  let calls = 0
  const choose = (chosen: Tab) => {
    if (tab === 'settings' && chosen !== 'settings') settings.close()
    tab = chosen
    update()
  }
  const settings = settingsView(deps)
  const write = ({ id, display_name }: { readonly id: string; readonly display_name: string }) => {
    chats.open(id, display_name)
    choose('chats')
  }
  const pages = {
    people: peopleView(people, phone, { self: account.address, write }),
    recents: recentsView(recents, phone, now),
    chats: chatsView(chats, now),
    settings,
  }
  const tabs = tabsView(
    () => tab,
    choose,
    (of) => (of === 'chats' ? chats.unread : of === 'phone' && tab !== 'phone' ? phone.lines.length : 0),
  )
  const header = headerView(account, phone, deps)
  const incoming = incomingView(phone)
  const state = stateView(phone)
  const notice = noticeView(phone)
  const stage = [state, heldView(phone), activeView(deps), dialView(phone, people)]
  const frame = element(
    'div',
    { class: 'frame' },
    header.element,
    element('div', { class: 'top-notes' }, notice.element, incoming.element),
    element('main', { class: 'card stage', 'aria-label': 'Phone' }, ...stage.map((view) => view.element)),
    element(
      'aside',
      { class: 'card panel' },
      tabs.element,
      ...Object.values(pages).map((view) => view.element),
    ),
  )
  const update = () => {
    // A starting call becomes visible; on a wide page nothing changes.
    if (phone.lines.length > calls) tab = 'phone'
    calls = phone.lines.length
    frame.dataset.tab = tab
    frame.classList.toggle('in-call', calls > 0)
    for (const [name, view] of Object.entries(pages)) view.element.dataset.shown = String(name === tab)
    if (tab === 'chats' && document.visibilityState === 'visible') chats.see()
    for (const view of [header, incoming, notice, ...stage, tabs, ...Object.values(pages)]) view.update()
    const [waiting] = phone.incoming
    ringer.set(!waiting || waiting.answering ? undefined : phone.current ? 'knock' : 'ring')
    document.title = titleOf(phone, chats.unread)
  }
  return { element: frame, update, close: () => settings.close() }
}
