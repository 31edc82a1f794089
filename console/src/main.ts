import { ClientError, SignalWire, systemClock } from '@trunkline/client'
import { type Account, pageSettings, SignInError, signIn } from './api.ts'
import { SignedIn } from './memory.ts'
import { connectionMessage } from './messages.ts'
import { BrowserStore } from './push/kept.ts'
import { openSession, type Session } from './session.ts'
import { chooseTheme, themeOf } from './theme.ts'
import { signInView } from './views/sign-in.ts'

const app = document.getElementById('app') as HTMLElement
const memory = new SignedIn(sessionStorage)
const kept = new BrowserStore()

// Shared by the whole page: browsers allow only a few, and permit sound after the first click.
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

const open = async (account: Account): Promise<void> => {
  let session: Session | undefined
  const client = await SignalWire({
    token: account.token,
    host: location.host,
    incomingCallHandlers: { all: ({ invite }) => session?.phone.ring(invite) },
  })
  const { applicationServerKey: serverKey } = await pageSettings()
  session = openSession({
    client,
    account,
    memory,
    kept,
    audio,
    serverKey,
    app,
    clock: systemClock,
    left: showSignIn,
    back: () => void start(),
  })
}

const start = async (): Promise<void> => {
  // A browser registered for push stays signed in: a page opened by a notification must answer at once.
  const account = memory.account ?? (await kept.get('registration').catch(() => undefined))?.account
  if (!account) return showSignIn()
  try {
    await open(account)
    memory.keep(account)
  } catch (error) {
    // A server that is briefly unavailable does not sign the user out.
    if (error instanceof ClientError && error.code === 'auth') memory.forget()
    showSignIn(connectionMessage(error))
  }
}

chooseTheme(localStorage, themeOf(localStorage), document.documentElement)
void start()
