import {
  type Client,
  type Clock,
  getCameraDevices,
  getMicrophoneDevices,
  getSpeakerDevices,
} from '@trunkline/client'
import type { Account } from './api.ts'
import { Chats } from './chats.ts'
import { Devices } from './devices.ts'
import { CallMemory, RecentCalls, type SignedIn } from './memory.ts'
import { connectionMessage } from './messages.ts'
import { whenLeft } from './page-life.ts'
import { People } from './people.ts'
import { Phone } from './phone.ts'
import { HiddenCalls, pushBrowser } from './push/browser.ts'
import { BrowserPush } from './push/browser-push.ts'
import type { KeptStore } from './push/kept.ts'
import { pendingMs, type WorkerMessage } from './push/messages.ts'
import { Ringer } from './ringer.ts'
import { chooseTheme, themeOf } from './theme.ts'
import { type Screen, screenView } from './views/screen.ts'

/** Collaborators of a {@link Session}. */
export interface SessionDeps {
  readonly client: Client
  readonly account: Account
  readonly memory: SignedIn
  readonly kept: KeptStore
  readonly clock: Clock
  readonly audio: () => AudioContext
  /** Public key of push notifications; undefined if the gateway has none. */
  readonly serverKey: string | undefined
  /** Parent element of the screen. */
  readonly app: HTMLElement
  /** Called after the sign-out; `notice` is the reason. */
  readonly left: (notice?: string) => void
  /** Called when the browser shows the page again after it was left. */
  readonly back: () => void
}

/** Session of a signed-in user of the page. */
export interface Session {
  readonly phone: Phone
}

const models = ({ client, account, clock, kept, serverKey }: SessionDeps, changed: () => void) => {
  const recents = new RecentCalls(localStorage, account.address)
  const source = { microphone: getMicrophoneDevices, camera: getCameraDevices, speaker: getSpeakerDevices }
  const devices = new Devices(source, localStorage, changed)
  const memory = new CallMemory(sessionStorage)
  const now = () => clock.now()
  return {
    recents,
    devices,
    phone: new Phone({ client, clock, recents, memory, devices, changed }),
    people: new People(client, clock, changed),
    chats: new Chats({ client, store: localStorage, address: account.address, now, changed }),
    push: new BrowserPush({ browser: pushBrowser, client, account, kept, serverKey, changed }),
  }
}

/** Shows the page to a signed-in user until the sign-out or the end of the page. */
export const openSession = (deps: SessionDeps): Session => {
  const { client, memory, clock, audio, app } = deps
  let screen: Screen | undefined
  const ringer = new Ringer(clock, audio)
  const hidden = new HiddenCalls()
  const changed = () => {
    if (listening.signal.aborted) return
    screen?.update()
    hidden.update(made.phone.incoming, document.visibilityState === 'hidden')
  }
  const listening = new AbortController()
  const made = models(deps, changed)
  const { phone, people, chats, devices, push } = made
  const close = () => {
    listening.abort()
    ringer.set(undefined)
    hidden.update([], false)
    chats.close()
    screen?.close()
  }
  const leave = (notice?: string) => {
    close()
    memory.forget()
    client.disconnect()
    deps.left(notice)
  }
  // While the token is valid: the gateway must stop notifying this browser.
  const signOut = () => void push.disable().then(() => leave())
  const setOnline = (online: boolean) => {
    memory.wantsOnline = online
    void phone.setOnline(online)
  }
  screen = screenView({ ...deps, ...made, ringer, theme: themes(), setOnline, signOut })
  client.on('closed', ({ reason }) => {
    if (!listening.signal.aborted) leave(connectionMessage(reason))
  })
  client.on('connection', ({ state }) => {
    // Changes during the time without connection were not delivered.
    if (state === 'connected') for (const list of [chats, people]) void list.load()
  })
  const left = () => {
    // A reloaded page returns to its call; the gateway waits for it.
    const keep = phone.leave()
    close()
    if (!keep) client.disconnect()
  }
  whenLeft(window, listening.signal, left, deps.back)
  addEventListener(
    'keydown',
    (event) => typesDigits(event) && void phone.controls.press(event.key),
    listening,
  )
  document.addEventListener('visibilitychange', changed, listening)
  navigator.mediaDevices?.addEventListener('devicechange', () => void devices.refresh(), listening)
  followWorker(deps, phone, listening.signal)
  app.replaceChildren(screen.element)
  screen.update()
  for (const part of [people, chats, push]) void part.load()
  void devices.refresh()
  void phone.reattach()
  if (memory.wantsOnline) void phone.setOnline(true)
  return { phone }
}

const themes = () => ({
  current: themeOf(localStorage),
  choose: (theme: ReturnType<typeof themeOf>) => chooseTheme(localStorage, theme, document.documentElement),
})

const typesDigits = (event: KeyboardEvent): boolean =>
  /^[0-9*#]$/.test(event.key) &&
  !event.ctrlKey &&
  !event.metaKey &&
  !event.altKey &&
  !(event.target instanceof Element && event.target.matches('input, textarea, select'))

/** Follows the user's choices at notifications. */
const followWorker = ({ kept, clock }: SessionDeps, phone: Phone, signal: AbortSignal): void => {
  const pending = async () => {
    const call = await kept.get('pending').catch(() => undefined)
    if (!call) return
    await kept.remove('pending').catch(() => {})
    if (clock.now() - call.at < pendingMs) await phone.pushed(call.push, call.answer)
  }
  const received = ({ kind, id, push }: WorkerMessage) => {
    if (kind === 'decline') phone.reject(id)
    else if (kind === 'answer' && !push) void phone.accept(id)
    else if (kind === 'answer') void pending()
    else if (push) void phone.pushed(push, false)
  }
  navigator.serviceWorker?.addEventListener('message', ({ data }) => received(data as WorkerMessage), {
    signal,
  })
  void pending()
}
