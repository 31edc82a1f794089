import { element, setText, show } from '../dom.ts'

/** Creates the sign-in screen. `submit` rejects with an error whose message is shown. */
export const signInView = (
  submit: (email: string, password: string) => Promise<void>,
  notice: string | undefined,
): HTMLElement => {
  const email = element('input', {
    id: 'email',
    type: 'email',
    name: 'email',
    autocomplete: 'username',
    required: true,
    'data-testid': 'sign-in-email',
  })
  const password = element('input', {
    id: 'password',
    type: 'password',
    name: 'password',
    autocomplete: 'current-password',
    required: true,
    'data-testid': 'sign-in-password',
  })
  const go = element('button', { type: 'submit', class: 'primary', 'data-testid': 'sign-in' }, 'Sign in')
  const fault = element(
    'p',
    { class: 'notice warning', role: 'alert', 'data-testid': 'sign-in-error' },
    notice ?? '',
  )
  show(fault, notice !== undefined)
  const form = element(
    'form',
    { class: 'card sign-in', method: 'post', novalidate: true },
    element('img', { src: '/favicon.svg', alt: '', width: '48', height: '48' }),
    element('h1', {}, 'Trunkline'),
    element('p', { class: 'quiet' }, 'Sign in to make and receive calls.'),
    element('label', { for: 'email' }, 'Email'),
    email,
    element('label', { for: 'password' }, 'Password'),
    password,
    fault,
    go,
  )
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    void attempt()
  })
  const attempt = async () => {
    go.disabled = true
    setText(go, 'Signing in…')
    show(fault, false)
    try {
      await submit(email.value.trim(), password.value)
    } catch (error) {
      setText(fault, error instanceof Error ? error.message : 'Sign-in failed. Please try again.')
      show(fault, true)
      password.select()
    }
    go.disabled = false
    setText(go, 'Sign in')
  }
  queueMicrotask(() => email.focus())
  return element('main', { class: 'gate' }, form)
}
