import {
  type Client,
  type Clock,
  getCameraDevices,
  getMicrophoneDevices,
  getSpeakerDevices,
} from '@trunkline/client'
import type { Account } from './api.ts'
import { Cell } from './cell.ts'
import { Devices } from './devices.ts'
import { ExtrasLoader } from './extras-loader.ts'
import { CallMemory, RecentCalls, type SignedIn } from './memory.ts'
import { connectionMessage } from './messages.ts'
import { browserMicrophone, Microphone } from './microphone.ts'
import { whenLeft } from './page-life.ts'
import { People } from './people.ts'
import { Phone } from './phone.ts'
import type { KeptStore } from './push/kept.ts'
import { Ringer } from './ringer.ts'
import { FirstTab, type SharedTabs } from './shared-tabs.ts'
import { followKeys } from './shortcuts.ts'
import { texts } from './texts/language.ts'
import type { Page } from './views/page.ts'
import { Ui } from './views/ui.ts'

/** Collaborators of a {@link Session}. */
export interface SessionDeps {
  readonly client: Client
  readonly account: Account
  readonly memory: SignedIn
  readonly kept: KeptStore
  readonly tabs: Pick<SharedTabs, 'signedOut' | 'online'>
  readonly clock: Clock
  readonly audio: () => AudioContext
  /** Public key of push notifications; undefined if the gateway has none. */
  readonly serverKey: string | undefined
  /** Shows the screen. */
  readonly show: (page: Page) => void
  /** Called after the sign-out; `notice` is the reason. `isExpired`: the gateway rejects the token. */
  readonly left: (notice: string | undefined, isExpired: boolean) => void
  /** Called when the browser shows the page again after it was left. */
  readonly back: () => void
}

/** Session of a signed-in user of the page. */
export interface Session {
  readonly account: Account
  /** Continues with the newer token of another tab, if it is signed in as the same user. */
  renew(account: Account): void
  readonly phone: Phone
  /** Signs out, after a sign-out in another tab. */
  leave(notice: string): void
  /** Follows the presence that the user chose in another tab. */
  setOnline(online: boolean): void
}

const models = ({ client, account, clock }: SessionDeps, changed: () => void) => {
  const recents = new RecentCalls(localStorage, account.address)
  const source = { microphone: getMicrophoneDevices, camera: getCameraDevices, speaker: getSpeakerDevices }
  const devices = new Devices(source, localStorage, changed)
  const memory = new CallMemory(sessionStorage)
  const phone = new Phone({ client, clock, recents, memory, devices, changed })
  return {
    recents,
    devices,
    microphone: new Microphone(browserMicrophone(), localStorage, changed),
    phone,
    people: new People(client, clock, changed),
    finder: new People(client, clock, changed),
  }
}

type Models = ReturnType<typeof models>

/** Shows the page to a signed-in user until the sign-out or the end of the page. */
export const openSession = (deps: SessionDeps): Session => {
  const { client, memory, clock, account, tabs, kept } = deps
  const listening = new AbortController()
  const { signal: life } = listening
  const version = new Cell(0)
  const changed = () => {
    if (!life.aborted) version.value++
  }
  const made = models(deps, changed)
  const { phone, people, recents, devices, microphone } = made
  const ui = new Ui(changed, life)
  const extras = new ExtrasLoader({ ...deps, phone, recents, changed }, life)
  const alerts = followCalls(made, extras, ui, deps, version)
  const close = () => {
    listening.abort()
    alerts.close()
    phone.rooms?.stop()
  }
  let renewed = account
  const leave = (notice?: string, isExpired = false) => {
    if (life.aborted) return
    close()
    memory.forget(renewed.token)
    client.disconnect()
    deps.left(notice, isExpired)
  }
  const setOnline = (online: boolean) => {
    memory.wantsOnline = online
    void phone.setOnline(online)
  }
  // The browser asks for the microphone now, not during a call.
  const checkDevices = async () => {
    await microphone.refresh()
    if (microphone.needsCheck && !life.aborted) ui.dialog.value = 'devices'
  }
  const page: Page = {
    phone,
    people,
    devices,
    microphone,
    recents,
    finder: made.finder,
    get extras() {
      return extras.loaded
    },
    account,
    clock,
    audio: deps.audio,
    ui,
    version,
    setOnline: (online) => {
      if (online) void checkDevices()
      tabs.online(online)
      setOnline(online)
    },
    // While the token is valid: the gateway must stop notifying this browser.
    signOut: () =>
      void extras.load().then(async (loaded) => {
        if (loaded) await loaded.push.disable()
        // Without the registration the service worker shows no more calls of this user.
        else await kept.remove('registration').catch(() => {})
        tabs.signedOut()
        leave()
      }),
    write: ({ id, display_name }) => {
      ui.tab.value = 'chats'
      void extras.load().then((loaded) => loaded?.chats.open(id, display_name))
    },
  }
  client.on('closed', ({ reason }) => leave(connectionMessage(reason), reason.code === 'auth'))
  client.on('connection', ({ state }) => {
    if (state !== 'connected') return
    void people.load()
    if (extras.loaded) extras.loaded.load()
    else void extras.load()
  })
  const left = () => {
    // A reloaded page returns to its call; the gateway waits for it.
    const keep = phone.leave()
    close()
    if (!keep) client.disconnect()
  }
  whenLeft(window, life, left, deps.back)
  followKeys(phone, ui, life)
  followBrowser(made, changed, life)
  deps.show(page)
  void people.load()
  void extras.load()
  void devices.refresh()
  void microphone.load(life)
  void phone.reattach()
  if (memory.wantsOnline) void phone.setOnline(true)
  return {
    get account() {
      return renewed
    },
    renew(newer) {
      if (newer.address !== account.address) return
      renewed = newer
      memory.keep(newer)
      // If the gateway rejects it, the client keeps the present token.
      void client.updateToken(newer.token).catch(() => {})
    },
    phone,
    leave,
    setOnline,
  }
}

/** Follows the calls with sound, notifications, the tab and the title of the page. */
const followCalls = (
  made: Models,
  extras: ExtrasLoader,
  ui: Ui,
  deps: SessionDeps,
  version: Cell<number>,
) => {
  const { phone, recents, people } = made
  const ringer = new Ringer(deps.clock, deps.audio)
  const first = new FirstTab(navigator.locks, () => update())
  let calls = 0
  let wasInRoom = false
  const update = () => {
    const isHidden = document.visibilityState === 'hidden'
    // A starting call becomes visible; on a wide page nothing changes.
    const starts = phone.lines.length > calls && !phone.isWaiting
    calls = phone.lines.length
    if (starts && (ui.narrow.value || ui.tab.value === 'people')) ui.tab.value = 'phone'
    // A room has the width of the page.
    const isInRoom = phone.current?.call.room !== undefined
    if (isInRoom && !wasInRoom) ui.tab.value = 'phone'
    wasInRoom = isInRoom
    const { chats, presence, hidden } = extras.loaded ?? {}
    presence?.watch(people.list.filter(({ type }) => type === 'subscriber').map(({ id }) => id))
    if (ui.tab.value === 'chats' && !isHidden) chats?.see()
    if (ui.tab.value === 'recents' && !isHidden) recents.see(deps.clock.now())
    const [waiting] = phone.incoming
    const rings = waiting && !waiting.answering && first.isFirst
    ringer.set(!rings ? undefined : phone.current ? 'knock' : 'ring')
    hidden?.update(phone.incoming, isHidden && first.isFirst)
    document.title = titleOf(phone, (chats?.unread ?? 0) + recents.missed)
  }
  update()
  const unfollow = [version, texts].map((cell) => cell.follow(update))
  return {
    close() {
      for (const stop of unfollow) stop()
      first.release()
      ringer.set(undefined)
    },
  }
}

const titleOf = ({ incoming: [waiting], current }: Phone, unread: number): string => {
  const { appName } = texts.value
  const name = waiting ? `☎ ${waiting.name}` : current?.name
  const page = unread > 0 ? `(${unread}) ${appName}` : appName
  return name ? `${name} - ${page}` : page
}

const followBrowser = (
  { devices, microphone, recents }: Models,
  changed: () => void,
  signal: AbortSignal,
) => {
  document.addEventListener('visibilitychange', changed, { signal })
  navigator.mediaDevices?.addEventListener(
    'devicechange',
    () => {
      void devices.refresh()
      void microphone.refresh()
    },
    { signal },
  )
  // Another tab changed its list of calls.
  addEventListener(
    'storage',
    () => {
      recents.reload()
      changed()
    },
    { signal },
  )
}
