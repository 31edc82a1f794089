import { createHash } from 'node:crypto'
import type { ProviderPages } from '../../auth/oauth/provider.ts'
import { escapeHtml } from '../../core/web/escape-html.ts'
import { oauthStyle } from './oauth-style.ts'

/**
 * Returns the headers of a page without scripts. The headers permit only the page's own style, and no
 * framing.
 */
export const pageHeaders = (formTargets: string | undefined): Readonly<Record<string, string>> => ({
  'cache-control': 'no-store',
  'content-security-policy': [
    "default-src 'none'",
    `style-src '${hashOf(oauthStyle)}'`,
    "img-src 'self'",
    // oidc-provider adds the hash of its only script, which submits a form.
    "script-src 'none'",
    ...(formTargets === undefined ? [] : [`form-action ${formTargets}`]),
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
  'x-frame-options': 'DENY',
  'x-content-type-options': 'nosniff',
  // The gateway's own forms send their origin, which is checked. Other servers receive no referrer.
  'referrer-policy': 'same-origin',
  'permissions-policy': 'microphone=(), camera=(), geolocation=()',
})

/**
 * Returns the targets of a form for the content policy: the gateway and the application, as browsers also
 * check redirects. For an application with its own URL scheme, only the scheme can be named.
 */
export const formTargets = (redirectUri: string): string => {
  const { origin, protocol } = new URL(redirectUri)
  return `'self' ${origin === 'null' ? protocol : origin}`
}

/** Contents of the sign-in page. */
export interface SignInPage {
  readonly clientName: string
  /** Host or URL scheme of the application. */
  readonly returnsTo: string
  /** E-mail as typed, or from the application's `login_hint`. */
  readonly email: string
  readonly error?: string
}

/** Returns the page that asks for e-mail and password. */
export const signInPage = ({ clientName, returnsTo, email, error }: SignInPage): string =>
  page(
    'Sign in',
    html`<p class="to">to continue to <strong>${clientName}</strong></p>
${error === undefined ? raw('') : html`<p class="error" id="error" role="alert">${error}</p>`}
<form method="post">
<label>E-mail<input name="email" type="email" autocomplete="username" inputmode="email" maxlength="254"
 required value="${email}" ${raw(fieldState(error, email === ''))}></label>
<label>Password<input name="password" type="password" autocomplete="current-password" maxlength="1024"
 required ${raw(fieldState(error, email !== ''))}></label>
<div class="buttons"><button name="action" value="sign-in">Sign in</button>
<button class="plain" name="action" value="cancel" formnovalidate>Cancel</button></div>
</form>
<footer>You return to ${returnsTo}.</footer>`,
  )

/** Returns the page on which a signed-in user confirms the sign-in to an application. */
export const continuePage = (
  clientName: string,
  returnsTo: string,
  { displayName, email }: { readonly displayName: string; readonly email: string },
): string =>
  page(
    `Continue as ${displayName}?`,
    html`<p class="to"><strong>${clientName}</strong> asks to sign you in as ${email}.</p>
<form method="post"><div class="buttons"><button name="action" value="continue">Continue</button>
<button class="plain" name="action" value="switch">Use another account</button>
<button class="plain" name="action" value="cancel">Cancel</button></div></form>
<footer>You return to ${returnsTo}.</footer>`,
  )

/** Returns the page for a sign-in that has expired, belongs to another browser, or is unknown. */
export const expiredPage = (): string =>
  page(
    'This sign-in has ended',
    html`<p class="to">It took too long, or began in another browser.
Return to the application and sign in again.</p>`,
  )

/** Pages that oidc-provider shows by itself. */
export const providerPages: ProviderPages = {
  failed: (error, description) =>
    page(
      'This sign-in cannot continue',
      html`<p class="error" role="alert">${description ?? error}</p>
<p class="to">The gateway cannot answer the request of the application (${error}).
Return to the application, or contact its developer.</p>`,
    ),
  signOut: (form, clientName) =>
    page(
      'Sign out?',
      html`<p class="to">${applicationsOf(clientName)} that you signed in to
with this browser will ask for your password again.</p>
${raw(form)}
<div class="buttons"><button form="op.logoutForm" name="logout" value="yes">Sign out</button></div>
<footer>To stay signed in, close this page.</footer>`,
    ),
  signedOut: () => page('You are signed out', html`<p class="to">You can close this page.</p>`),
}

const applicationsOf = (clientName: string | undefined): Raw =>
  clientName === undefined ? raw('Applications') : html`<strong>${clientName}</strong> and other applications`

/** Text in HTML. */
interface Raw {
  readonly text: string
}

const raw = (text: string): Raw => ({ text })

/** Returns HTML. Values are escaped unless they are {@link Raw}. */
const html = (texts: TemplateStringsArray, ...values: readonly (string | Raw)[]): Raw => {
  const shown = values.map((value) => (typeof value === 'string' ? escapeHtml(value) : value.text))
  return raw(String.raw({ raw: texts }, ...shown))
}

const fieldState = (error: string | undefined, focused: boolean): string =>
  `${error === undefined ? '' : 'aria-invalid="true" aria-describedby="error"'}${focused ? ' autofocus' : ''}`

const page = (title: string, body: Raw): string =>
  html`<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title><link rel="icon" href="/favicon.svg"><style>${raw(oauthStyle)}</style></head>
<body><main><h1>${title}</h1>
${body}
</main></body></html>
`.text

const hashOf = (text: string): string => `sha256-${createHash('sha256').update(text).digest('base64')}`
