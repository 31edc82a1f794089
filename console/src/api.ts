import { texts } from './texts/language.ts'

/** Signed-in subscriber, as the page shows it. */
export interface Account {
  readonly token: string
  readonly email: string
  readonly address: string
  readonly name: string
}

/** Failed sign-in; its message can be shown on the page. */
export class SignInError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'SignInError'
  }
}

const messages = {
  400: 'signInMissing',
  401: 'signInWrong',
  403: 'signInForbidden',
  429: 'signInLimited',
} as const

const messageOf = (status: number): string =>
  texts.value[messages[status as keyof typeof messages] ?? 'signInFailed']

const asAccount = (body: unknown): Account | undefined => {
  const { token, subscriber } = (body ?? {}) as Record<string, unknown>
  const { email, address, display_name } = (subscriber ?? {}) as Record<string, unknown>
  if (typeof token !== 'string' || typeof address !== 'string') return undefined
  const mail = typeof email === 'string' ? email : ''
  const name = typeof display_name === 'string' && display_name ? display_name : mail || address
  return { token, email: mail, address, name }
}

/** Signs in with email and password. Rejects with {@link SignInError}. */
export const signIn = async (
  email: string,
  password: string,
  request: typeof fetch = fetch,
): Promise<Account> => {
  let response: Response
  try {
    response = await request('/api/console/session', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ email, password }),
    })
  } catch {
    throw new SignInError(texts.value.signInUnreachable)
  }
  if (!response.ok) throw new SignInError(messageOf(response.status))
  const account = asAccount(await response.json().catch(() => undefined))
  if (!account) throw new SignInError(texts.value.signInUnexpected)
  return account
}

/** Settings that the gateway gives the page before the sign-in. */
export interface PageSettings {
  /** Public key of push notifications; undefined if the gateway has none. */
  readonly applicationServerKey: string | undefined
}

/** Fetches the settings. Never rejects: the page works without them. */
export const pageSettings = async (request: typeof fetch = fetch): Promise<PageSettings> => {
  const body = await request('/config.json')
    .then((response) => response.json() as Promise<{ push?: { application_server_key?: unknown } | null }>)
    .catch(() => undefined)
  const key = body?.push?.application_server_key
  return { applicationServerKey: typeof key === 'string' ? key : undefined }
}
