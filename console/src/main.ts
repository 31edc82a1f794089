import { ClientError, SignalWire, systemClock } from '@trunkline/client'
import { type Account, SignInError, signIn } from './api.ts'
import { RecentCalls, SignedIn } from './memory.ts'
import { connectionMessage } from './messages.ts'
import { whenLeft } from './page-life.ts'
import { Phone } from './phone.ts'
import { Ringer } from './ringer.ts'
import { phoneView } from './views/phone.ts'
import { signInView } from './views/sign-in.ts'

const app = document.getElementById('app') as HTMLElement
const memory = new SignedIn(sessionStorage)

// One for the whole page: browsers allow only a few, and it may sound once the person has clicked anywhere.
let context: AudioContext | undefined
const audio = (): AudioContext => {
  context ??= new AudioContext()
  return context
}

const showSignIn = (notice?: string): void => {
  document.title = 'Trunkline'
  const submit = async (email: string, password: string) => {
    const account = await signIn(email, password)
    await open(account).catch((error: unknown) => {
      throw new SignInError(connectionMessage(error))
    })
    memory.keep(account)
  }
  app.replaceChildren(signInView(submit, notice))
}

const typesDigits = (event: KeyboardEvent): boolean =>
  /^[0-9*#]$/.test(event.key) &&
  !event.ctrlKey &&
  !event.metaKey &&
  !event.altKey &&
  !(event.target instanceof HTMLInputElement)

const open = async (account: Account): Promise<void> => {
  const client = await SignalWire({ token: account.token, host: location.host })
  const recents = new RecentCalls(localStorage, account.address)
  const ringer = new Ringer(systemClock, audio)
  const phone = new Phone(client, systemClock, recents, () => screen.update())
  const leave = (notice?: string) => {
    listening.abort()
    ringer.set(undefined)
    memory.forget()
    client.disconnect()
    showSignIn(notice)
  }
  const setOnline = (online: boolean) => {
    memory.wantsOnline = online
    void phone.setOnline(online)
  }
  const parts = { account, phone, recents, ringer, clock: systemClock, audio, setOnline }
  const screen = phoneView({ ...parts, signOut: () => leave() })
  const listening = new AbortController()
  client.on('closed', ({ reason }) => {
    if (!listening.signal.aborted) leave(connectionMessage(reason))
  })
  addEventListener('keydown', (event) => typesDigits(event) && void phone.press(event.key), listening)
  // Hangs up, and takes the subscriber offline; a page that the browser kept connects again when it is shown.
  const left = () => {
    listening.abort()
    client.disconnect()
  }
  whenLeft(window, listening.signal, left, () => void start())
  app.replaceChildren(screen.element)
  screen.update()
  if (memory.wantsOnline) void phone.setOnline(true)
}

const start = async (): Promise<void> => {
  const { account } = memory
  if (!account) return showSignIn()
  try {
    await open(account)
  } catch (error) {
    // A server that is away for a moment is no reason to forget who was signed in.
    if (error instanceof ClientError && error.code === 'auth') memory.forget()
    showSignIn(connectionMessage(error))
  }
}

void start()
