import { useState } from 'preact/hooks'
import { dialogTexts } from '../texts/dialogs.ts'
import { texts } from '../texts/language.ts'
import { laterTexts } from '../texts/later.ts'
import { DevicePicker, SpeakerTest, useTrial } from './device-trial.tsx'
import { Dialog } from './dialog.tsx'
import { Level } from './level.tsx'
import { usePage } from './page.ts'
import { Transfer } from './transfer.tsx'

/** The open dialog. */
export const Dialogs = () => {
  const { ui } = usePage()
  const close = () => {
    ui.dialog.value = undefined
  }
  if (ui.dialog.value === 'help') return <Help close={close} />
  if (ui.dialog.value === 'devices') return <DeviceCheck close={close} />
  if (ui.dialog.value === 'transfer') return <Transfer close={close} adds={false} />
  if (ui.dialog.value === 'add') return <Transfer close={close} adds={true} />
  return null
}

const keys = (...names: readonly string[]) => names.map((name) => <kbd key={name}>{name}</kbd>)

const Help = ({ close }: { readonly close: () => void }) => {
  const own = dialogTexts()
  return (
    <Dialog title={laterTexts().shortcuts} testId="help" close={close}>
      <dl class="shortcuts">
        <dt>{own.shortcutAnswer}</dt>
        <dd>{keys('Ctrl', 'Shift', 'A')}</dd>
        <dt>{own.shortcutDecline}</dt>
        <dd>{keys('Ctrl', 'Shift', 'D')}</dd>
        <dt>{own.shortcutMute}</dt>
        <dd>{keys('Ctrl', 'Shift', 'M')}</dd>
        <dt>{own.shortcutDigits}</dt>
        <dd>{keys('0–9', '*', '#')}</dd>
        <dt>{own.shortcutHelp}</dt>
        <dd>{keys('?')}</dd>
        <dt>{own.shortcutClose}</dt>
        <dd>{keys('Esc')}</dd>
      </dl>
    </Dialog>
  )
}

const howToAllow = (): string => {
  const own = dialogTexts()
  if (/firefox/i.test(navigator.userAgent)) return own.allowFirefox
  return /safari/i.test(navigator.userAgent) && !/chrom/i.test(navigator.userAgent)
    ? own.allowSafari
    : own.allowChrome
}

/** Check of the devices before the first call: the browser asks for the microphone here, not at a call. */
const DeviceCheck = ({ close }: { readonly close: () => void }) => {
  const { microphone } = usePage()
  const [wanted, setWanted] = useState(true)
  const { stream, fault } = useTrial(wanted, false)
  const t = texts.value
  const own = dialogTexts()
  const done = () => {
    microphone.checked()
    close()
  }
  return (
    <Dialog title={own.deviceCheck} testId="device-check" close={done}>
      <p class="quiet">{own.deviceCheckHint}</p>
      <div role="status">
        {stream && <p class="good">{own.microphoneWorks}</p>}
        {fault && <p class="fault">{fault}</p>}
        {fault && microphone.state === 'blocked' && (
          <p>
            <strong>{own.howToAllow}</strong>
            <br />
            {howToAllow()}
          </p>
        )}
      </div>
      {stream && <Level stream={stream} label={t.yourLevel} testId="check-level" class="meter" />}
      <DevicePicker kind="microphone" prefix="check-" />
      <DevicePicker kind="speaker" prefix="check-" />
      <div class="row end">
        <SpeakerTest />
        {fault && (
          <button
            type="button"
            class="primary"
            onClick={() => {
              setWanted(false)
              queueMicrotask(() => setWanted(true))
            }}
          >
            {t.tryAgain}
          </button>
        )}
        <button
          type="button"
          class={fault ? 'plain' : 'primary'}
          data-testid="device-check-done"
          onClick={done}
        >
          {laterTexts().done}
        </button>
      </div>
    </Dialog>
  )
}
