import type { ComponentChildren } from 'preact'
import type { PushState } from '../push/browser-push.ts'
import { texts } from '../texts/language.ts'
import { laterTexts } from '../texts/later.ts'
import { pushTexts } from '../texts/push.ts'
import { ThemeChoice } from './account-menu.tsx'
import { DevicePicker, DeviceTrial } from './device-trial.tsx'
import { LanguageSelect } from './language-select.tsx'
import { useExtras, usePage } from './page.ts'
import { Switch } from './parts.tsx'

const Group = ({ title, children }: { readonly title: string; readonly children: ComponentChildren }) => (
  <section class="group">
    <h3>{title}</h3>
    {children}
  </section>
)

const Push = () => {
  const { push } = useExtras()
  const p = pushTexts()
  const words: Readonly<Record<PushState, string>> = {
    unsupported: p.unsupported,
    blocked: p.blocked,
    off: p.off,
    working: laterTexts().oneMoment,
    open: p.open,
    always: p.always,
  }
  const isOn = push.state === 'open' || push.state === 'always'
  return (
    <Group title={laterTexts().notifications}>
      <Switch
        id="push"
        testId="push"
        label={laterTexts().notifyMe}
        on={isOn}
        disabled={['working', 'unsupported', 'blocked'].includes(push.state)}
        change={(on) => void (on ? push.enable() : push.disable())}
      />
      <p class="quiet" role="status" data-testid="push-state" data-state={push.state}>
        {words[push.state]}
      </p>
      {!push.isOffered && <p class="quiet">{p.notOffered}</p>}
      <p class="fault" role="alert">
        {push.fault ?? ''}
      </p>
    </Group>
  )
}

/** Settings of this browser. */
export const SettingsView = () => {
  const { devices, ui } = usePage()
  const t = texts.value
  return (
    <div class="page settings">
      <Group title={laterTexts().audioAndVideo}>
        <DevicePicker kind="microphone" />
        <DevicePicker kind="camera" />
        <DevicePicker kind="speaker" />
        {devices.list('microphone').length === 0 && <p class="quiet">{laterTexts().deviceNames}</p>}
        <DeviceTrial />
      </Group>
      <Push />
      <Group title={laterTexts().appearance}>
        <ThemeChoice name="theme" />
      </Group>
      <Group title={t.language}>
        <div class="setting">
          <label class="aside" for="language">
            {t.language}
          </label>
          <LanguageSelect id="language" />
        </div>
      </Group>
      <button
        type="button"
        class="plain"
        onClick={() => {
          ui.dialog.value = 'help'
        }}
      >
        {laterTexts().shortcuts}
      </button>
    </div>
  )
}
