import { ClientError, SignalWire, systemClock } from '@trunkline/client'
import { render } from 'preact'
import { type Account, pageSettings } from './api.ts'
import { connectionMessage } from './messages.ts'
import { openSession, type Session, type SessionDeps } from './session.ts'
import { Screen } from './views/screen.tsx'

/** Failed start of a session; its message can be shown on the page. */
export class OpeningError extends Error {
  /** Whether the gateway rejected the token. */
  readonly isRejected: boolean

  constructor(message: string, isRejected: boolean) {
    super(message)
    this.name = 'OpeningError'
    this.isRejected = isRejected
  }
}

/** Collaborators of {@link open}. */
export type OpeningDeps = Pick<SessionDeps, 'memory' | 'kept' | 'tabs' | 'left' | 'back'>

// Shared by the whole page: browsers allow only a few, and permit sound after the first click.
let context: AudioContext | undefined
const audio = (): AudioContext => {
  context ??= new AudioContext()
  return context
}

/** Connects and shows the screen in `app`. Rejects with {@link OpeningError}. */
export const open = async (account: Account, app: HTMLElement, deps: OpeningDeps): Promise<Session> => {
  let session: Session | undefined
  const all = ({ invite }: { readonly invite: Parameters<Session['phone']['ring']>[0] }) =>
    session?.phone.ring(invite)
  const connected = SignalWire({
    token: account.token,
    host: location.host,
    incomingCallHandlers: { all },
  })
  const client = await connected.catch((error: unknown) => {
    const isRejected = error instanceof ClientError && error.code === 'auth'
    throw new OpeningError(connectionMessage(error), isRejected)
  })
  const { applicationServerKey: serverKey } = await pageSettings()
  session = openSession({
    ...deps,
    client,
    account,
    audio,
    serverKey,
    clock: systemClock,
    show: (page) => render(<Screen page={page} />, app),
  })
  return session
}
