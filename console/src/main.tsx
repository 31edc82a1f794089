import { render } from 'preact'
import { type Account, signIn } from './api.ts'
import { SignedIn } from './memory.ts'
import type { OpeningError } from './opening.tsx'
import { BrowserStore } from './push/kept.ts'
import type { Session } from './session.ts'
import { SharedTabs } from './shared-tabs.ts'
import { applyLanguage, languageChoice, texts } from './texts/language.ts'
import { chooseTheme, themeOf } from './theme.ts'
import { SignInView } from './views/sign-in.tsx'

/** Time in which another tab of this browser answers, in milliseconds. */
const otherTabsMs = 150

const app = document.getElementById('app') as HTMLElement
const memory = new SignedIn(sessionStorage, localStorage)
const kept = new BrowserStore()
let session: Session | undefined

// The phone and the SDK: not needed before the sign-in, and loaded meanwhile.
const phoneCode = () => import('./opening.tsx')

const showSignIn = (notice?: string): void => {
  session = undefined
  document.title = texts.value.appName
  const submit = async (email: string, password: string, remember: boolean) => {
    const account = await signIn(email, password)
    await open(account)
    memory.keep(account, remember)
    tabs.signedIn(account, memory.wantsOnline)
  }
  render(<SignInView key={notice} submit={submit} notice={notice} />, app)
  void phoneCode().catch(() => {})
}

const open = async (account: Account): Promise<void> => {
  const code = await phoneCode().catch(() => {
    throw new Error(texts.value.serverUnreachable)
  })
  session = await code.open(account, app, {
    memory,
    kept,
    tabs,
    left(notice, isExpired) {
      showSignIn(notice)
      // Another tab may have a newer token.
      if (isExpired) tabs.ask()
    },
    back: () => void start(),
  })
}

/** Opens the page for a stored or received account. */
const resume = async (account: Account): Promise<void> => {
  try {
    await open(account)
    memory.keep(account)
  } catch (error) {
    // A server that is briefly unavailable does not sign the user out.
    if ((error as Partial<OpeningError>).isRejected) memory.forget(account.token)
    showSignIn((error as Error).message)
  }
}

// An account of another tab is taken once; later messages about the same sign-in change nothing.
let resuming = false
const tabs = new SharedTabs('BroadcastChannel' in window ? new BroadcastChannel('trunkline') : undefined, {
  account: () => session && { account: session.account, online: memory.wantsOnline },
  signedIn(account, online, fresh) {
    if (session && fresh) session.renew(account)
    if (session || resuming) return
    resuming = true
    memory.keep(account)
    memory.wantsOnline = online
    void resume(account).finally(() => {
      resuming = false
    })
  },
  signedOut: () => session?.leave(texts.value.signedOutElsewhere),
  online: (online) => session?.setOnline(online),
})

const start = async (): Promise<void> => {
  // A browser registered for push stays signed in: a page opened by a notification must answer at once.
  const account = memory.account ?? (await kept.get('registration').catch(() => undefined))?.account
  if (account) return resume(account)
  tabs.ask()
  await new Promise((resolve) => setTimeout(resolve, otherTabsMs))
  if (!session && !resuming) showSignIn()
}

chooseTheme(localStorage, themeOf(localStorage), document.documentElement)
await applyLanguage(languageChoice(localStorage), navigator.languages)
void start()
