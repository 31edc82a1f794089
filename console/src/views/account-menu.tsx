import { useEffect, useRef } from 'preact/hooks'
import { texts } from '../texts/language.ts'
import { laterTexts } from '../texts/later.ts'
import { chooseTheme, type Theme, themeOf } from '../theme.ts'
import { CopyButton } from './copy.tsx'
import { Icon } from './icon.tsx'
import { LanguageSelect } from './language-select.tsx'
import { useExtras, usePage } from './page.ts'
import { Switch } from './parts.tsx'
import { OnlineSwitch } from './top-bar.tsx'

/** Choice of light and dark. */
export const ThemeChoice = ({ name }: { readonly name: string }) => {
  const t = texts.value
  const labels: Readonly<Record<Theme, string>> = { system: t.system, light: t.light, dark: t.dark }
  return (
    <div class="options" role="radiogroup" aria-label={laterTexts().appearance}>
      {(Object.keys(labels) as Theme[]).map((theme) => (
        <label key={theme} class="option">
          <input
            type="radio"
            name={name}
            value={theme}
            defaultChecked={theme === themeOf(localStorage)}
            onChange={() => chooseTheme(localStorage, theme, document.documentElement)}
          />
          <span>{labels[theme]}</span>
        </label>
      ))}
    </div>
  )
}

/** Switch that makes calls to the user busy on all devices. */
const DoNotDisturbSwitch = () => {
  const { presence } = useExtras()
  return (
    <Switch
      id="do-not-disturb"
      label={texts.value.doNotDisturb}
      on={presence.doNotDisturb}
      testId="do-not-disturb"
      change={(on) => void presence.setDoNotDisturb(on)}
    />
  )
}

/** Menu of the account: presence, appearance, language, sign-out. */
export const AccountMenu = () => {
  const { account, ui, signOut } = usePage()
  const { presence } = useExtras()
  const t = texts.value
  const panel = useRef<HTMLDivElement>(null)
  useEffect(() => {
    const opener = document.activeElement as HTMLElement | null
    panel.current?.querySelector<HTMLElement>('button, select, input')?.focus()
    // Another device may have changed do not disturb.
    void presence.load()
    const over = new AbortController()
    const close = (back: boolean) => {
      ui.menu.value = false
      if (back) opener?.focus()
    }
    addEventListener('keydown', ({ key }) => key === 'Escape' && close(true), over)
    document.addEventListener(
      'pointerdown',
      ({ target }) => {
        if (!(target instanceof Element) || target.closest('.menu, .account')) return
        close(false)
      },
      over,
    )
    return () => over.abort()
  }, [])
  return (
    <div
      ref={panel}
      class="menu"
      role="dialog"
      aria-label={t.account(account.name)}
      data-testid="account-menu"
    >
      <div class="menu-who">
        <strong data-testid="name">{account.name}</strong>
        <span class="quiet">{account.email}</span>
      </div>
      {ui.narrow.value && <OnlineSwitch />}
      <DoNotDisturbSwitch />
      <div class="setting">
        <span class="quiet">{laterTexts().appearance}</span>
        <ThemeChoice name="menu-theme" />
      </div>
      <div class="setting">
        <label for="menu-language">{t.language}</label>
        <LanguageSelect id="menu-language" />
      </div>
      <CopyButton text={account.address} />
      <button
        type="button"
        class="menu-item"
        data-testid="open-help"
        onClick={() => {
          ui.menu.value = false
          ui.dialog.value = 'help'
        }}
      >
        <Icon name="keyboard" />
        {laterTexts().shortcuts}
      </button>
      <button
        type="button"
        class="menu-item"
        data-testid="open-devices"
        onClick={() => {
          ui.menu.value = false
          ui.dialog.value = 'devices'
        }}
      >
        <Icon name="microphone" />
        {t.checkDevices}
      </button>
      <button type="button" class="menu-item danger" data-testid="sign-out" onClick={signOut}>
        <Icon name="exit" />
        {laterTexts().signOut}
      </button>
    </div>
  )
}
