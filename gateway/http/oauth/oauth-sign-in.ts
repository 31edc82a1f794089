import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { errors, type Interaction, type InteractionResults } from 'oidc-provider'
import type { OAuth } from '../../auth/oauth/oauth.ts'
import { oauthPaths } from '../../auth/oauth/paths.ts'
import type { PasswordSignIn } from '../requests/password-sign-in.ts'
import { continuePage, expiredPage, formTargets, pageHeaders, signInPage } from './oauth-pages.ts'
import { asTls } from './oauth-tls.ts'

interface Route {
  readonly Params: { readonly uid: string }
  readonly Body: URLSearchParams
}

/** Pending sign-in, with the facts that its page needs. */
interface PendingSignIn {
  readonly interaction: Interaction
  readonly clientName: string
  readonly projectId: string
  readonly redirectUri: string
}

/** `GET` and `POST /login/oauth/sign-in/{id}`: the page on which a subscriber signs in or continues. */
export const signInRoutes = (scope: FastifyInstance, oauth: OAuth, signIn: PasswordSignIn): void => {
  scope.removeAllContentTypeParsers()
  const form = { parseAs: 'string', bodyLimit: 8192 } as const
  scope.addContentTypeParser<string>('application/x-www-form-urlencoded', form, (_request, body, done) =>
    done(null, new URLSearchParams(body)),
  )
  const pages = new SignInPages(oauth, signIn)
  const options = { config: { cors: false }, schema: { hide: true } } as const
  const url = `${oauthPaths.signIn}/:uid`
  scope.get<Route>(url, { ...options, exposeHeadRoute: false }, (request, reply) =>
    pages.show(request, reply),
  )
  scope.post<Route>(url, options, (request, reply) => pages.take(request, reply))
}

class SignInPages {
  readonly #oauth: OAuth
  readonly #signIn: PasswordSignIn
  readonly #origin: string

  constructor(oauth: OAuth, signIn: PasswordSignIn) {
    this.#oauth = oauth
    this.#signIn = signIn
    this.#origin = new URL(oauth.issuer).origin
  }

  /** Sends the page for the state of the sign-in. */
  async show(request: FastifyRequest<Route>, reply: FastifyReply): Promise<FastifyReply> {
    const pending = await this.#pending(request, reply)
    if (!pending) return this.#expired(reply)
    const { interaction } = pending
    const known = interaction.prompt.name === 'consent' ? this.#subscriberOf(interaction) : undefined
    if (!known) return this.#form(reply, pending, String(interaction.params.login_hint ?? ''))
    const text = continuePage(pending.clientName, placeOf(pending.redirectUri), known)
    return send(reply, 200, text, pending.redirectUri)
  }

  /** Handles the submitted form. */
  async take(request: FastifyRequest<Route>, reply: FastifyReply): Promise<FastifyReply> {
    const pending = this.#isSameSite(request) ? await this.#pending(request, reply) : undefined
    if (!pending) return this.#expired(reply)
    switch (request.body?.get('action')) {
      case 'cancel': {
        const description = 'The sign-in was cancelled.'
        return this.#goOn(request, reply, { error: 'access_denied', error_description: description })
      }
      case 'switch':
        return this.#form(reply, pending, '')
      case 'continue':
        // A click is accepted only on the page that asks for consent.
        if (pending.interaction.prompt.name !== 'consent') return this.show(request, reply)
        return this.#goOn(request, reply, { consent: {} })
      default:
        return this.#check(request, reply, pending)
    }
  }

  async #check(
    request: FastifyRequest<Route>,
    reply: FastifyReply,
    pending: PendingSignIn,
  ): Promise<FastifyReply> {
    const field = (name: string, most: number) => (request.body?.get(name) ?? '').slice(0, most)
    const email = field('email', 254).trim()
    const password = field('password', 1024)
    if (email === '' || password === '')
      return this.#form(reply, pending, email, 422, 'Enter your e-mail and your password.')
    const { projectId } = pending
    const signedIn = await this.#signIn.attempt({ projectId, email, password }, request)
    if ('subscriber' in signedIn) {
      // A user who signs in on a page that names the application consents to it.
      const login = { accountId: signedIn.subscriber.id, remember: true }
      return this.#goOn(request, reply, { login, consent: {} })
    }
    this.#oauth.refused(signedIn.refused)
    if (signedIn.refused === 'unauthorized')
      return this.#form(reply, pending, email, 422, 'The e-mail or the password is wrong.')
    const seconds = Math.ceil(signedIn.waitMs / 1000)
    reply.header('retry-after', seconds)
    return this.#form(reply, pending, email, 429, `Too many attempts. Try again in ${seconds} seconds.`)
  }

  #form(
    reply: FastifyReply,
    pending: PendingSignIn,
    email: string,
    status = 200,
    error?: string,
  ): FastifyReply {
    const { clientName, redirectUri } = pending
    const text = signInPage({ clientName, returnsTo: placeOf(redirectUri), email, ...(error && { error }) })
    return send(reply, status, text, redirectUri)
  }

  #expired(reply: FastifyReply): FastifyReply {
    return send(reply, 400, expiredPage(), undefined)
  }

  async #goOn(
    request: FastifyRequest,
    reply: FastifyReply,
    result: InteractionResults,
  ): Promise<FastifyReply> {
    const { provider, issuer } = this.#oauth
    const options = { mergeWithLastSubmission: false }
    const to = await provider.interactionResult(asTls(request.raw, issuer), reply.raw, result, options)
    return reply.headers(pageHeaders(undefined)).redirect(to, 303)
  }

  /** Returns the sign-in of the browser's cookie; undefined if it has expired or differs from the path. */
  async #pending(request: FastifyRequest<Route>, reply: FastifyReply): Promise<PendingSignIn | undefined> {
    const { provider, issuer } = this.#oauth
    try {
      const interaction = await provider.interactionDetails(asTls(request.raw, issuer), reply.raw)
      if (interaction.uid !== request.params.uid) return undefined
      const client = await provider.Client.find(String(interaction.params.client_id))
      if (!client) return undefined
      return {
        interaction,
        clientName: client.clientName ?? client.clientId,
        projectId: String(client.project_id),
        redirectUri: String(interaction.params.redirect_uri),
      }
    } catch (error) {
      if (error instanceof errors.SessionNotFound) return undefined
      throw error
    }
  }

  #subscriberOf({ session }: Interaction) {
    return session?.accountId === undefined ? undefined : this.#oauth.accounts.subscriber(session.accountId)
  }

  /** Returns whether the form was sent from a page of this site. */
  #isSameSite({ headers }: FastifyRequest): boolean {
    const site = headers['sec-fetch-site']
    return (
      (headers.origin === undefined || headers.origin === this.#origin) &&
      (site === undefined || site === 'same-origin')
    )
  }
}

const send = (
  reply: FastifyReply,
  status: number,
  text: string,
  redirectUri: string | undefined,
): FastifyReply =>
  reply
    .code(status)
    .headers(pageHeaders(redirectUri === undefined ? "'none'" : formTargets(redirectUri)))
    .type('text/html; charset=utf-8')
    .send(text)

/**
 * Returns the location of an application for display: its host, or the URL scheme of a native application.
 */
const placeOf = (redirectUri: string): string => {
  const { host, protocol } = new URL(redirectUri)
  return /^https?:$/.test(protocol) ? host : protocol.slice(0, -1)
}
