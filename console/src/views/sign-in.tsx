import { useEffect, useRef, useState } from 'preact/hooks'
import { texts } from '../texts/language.ts'
import { useFollowed } from './follow.ts'
import { LanguageSelect } from './language-select.tsx'
import { IconButton } from './parts.tsx'

/** Properties of {@link SignInView}. */
export interface SignInProps {
  /** Rejects with an error whose message is shown. */
  readonly submit: (email: string, password: string, remember: boolean) => Promise<void>
  /** Reason for which the user is signed out. */
  readonly notice: string | undefined
}

/** Sign-in screen. */
export const SignInView = ({ submit, notice }: SignInProps) => {
  useFollowed(texts)
  const t = texts.value
  const [fault, setFault] = useState(notice ?? '')
  const [working, setWorking] = useState(false)
  const [visible, setVisible] = useState(false)
  const email = useRef<HTMLInputElement>(null)
  const password = useRef<HTMLInputElement>(null)
  const remember = useRef<HTMLInputElement>(null)
  useEffect(() => email.current?.focus(), [])
  const attempt = async () => {
    setWorking(true)
    setFault('')
    try {
      const { value: name = '' } = email.current ?? {}
      const { value: secret = '' } = password.current ?? {}
      await submit(name.trim(), secret, remember.current?.checked ?? false)
    } catch (error) {
      setFault(error instanceof Error ? error.message : t.signInFailed)
      password.current?.select()
    }
    setWorking(false)
  }
  return (
    <main class="gate">
      <form
        class="sign-in"
        method="post"
        noValidate
        onSubmit={(event) => {
          event.preventDefault()
          void attempt()
        }}
      >
        <img src="/favicon.svg" alt="" width="40" height="40" />
        <h1>{t.appName}</h1>
        <p class="quiet">{t.signInHint}</p>
        <label for="email">{t.email}</label>
        <input
          ref={email}
          id="email"
          type="email"
          name="email"
          autocomplete="username"
          required
          data-testid="sign-in-email"
        />
        <label for="password">{t.password}</label>
        <div class="with-button">
          <input
            ref={password}
            id="password"
            {...({ type: visible ? 'text' : 'password' } as { readonly type: 'password' })}
            name="password"
            autocomplete="current-password"
            required
            aria-invalid={fault !== ''}
            aria-describedby="sign-in-fault"
            data-testid="sign-in-password"
          />
          <IconButton
            icon="eye"
            label={visible ? t.hidePassword : t.showPassword}
            pressed={visible}
            press={() => setVisible(!visible)}
            class="in-box"
            testId="show-password"
          />
        </div>
        <label class="check">
          <input ref={remember} type="checkbox" name="remember" data-testid="remember" />
          {t.rememberMe}
        </label>
        <p id="sign-in-fault" class="fault" role="alert" data-testid="sign-in-error">
          {fault}
        </p>
        <button type="submit" class="primary" disabled={working} data-testid="sign-in">
          {working ? t.signingIn : t.signIn}
        </button>
      </form>
      <div class="gate-end">
        <label class="aside" for="sign-in-language">
          {t.language}
        </label>
        <LanguageSelect id="sign-in-language" />
      </div>
    </main>
  )
}
