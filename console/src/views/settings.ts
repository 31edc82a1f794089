import type { Clock, Timer } from '@trunkline/client'
import type { DeviceKind, Devices } from '../devices.ts'
import { button, element, setText, show } from '../dom.ts'
import type { Phone } from '../phone.ts'
import type { BrowserPush, PushState } from '../push/browser-push.ts'
import type { Theme } from '../theme.ts'
import { DeviceTrial } from './device-trial.ts'
import type { View } from './view.ts'

/** Collaborators of the settings. */
export interface SettingsDeps {
  readonly phone: Phone
  readonly devices: Devices
  readonly push: BrowserPush
  readonly clock: Clock
  readonly audio: () => AudioContext
  readonly theme: { readonly current: Theme; readonly choose: (theme: Theme) => void }
}

const group = (title: string, ...children: (HTMLElement | undefined)[]): HTMLElement =>
  element('section', { class: 'group' }, element('h2', {}, title), ...children)

const picker = (
  kind: DeviceKind,
  label: string,
  devices: Devices,
  choose: (id: string | undefined) => void,
) => {
  const select = element('select', { id: `device-${kind}`, 'data-testid': `device-${kind}` })
  select.addEventListener('change', () => choose(select.value || undefined))
  let displayed = ''
  return {
    element: element('div', { class: 'setting' }, element('label', { for: select.id }, label), select),
    update() {
      const list = devices.list(kind)
      const chosen = devices.chosen(kind) ?? ''
      const present = JSON.stringify([list, chosen])
      if (present === displayed) return
      displayed = present
      const options = list
        .filter(({ id }) => id !== 'default')
        .map(({ id, label: name }) => element('option', { value: id }, name))
      select.replaceChildren(element('option', { value: '' }, 'Browser default'), ...options)
      select.value = chosen
    },
  }
}

const devicesView = ({ phone, devices, clock, audio }: SettingsDeps): View & { close(): void } => {
  const trial = new DeviceTrial(devices, audio)
  const choose = (kind: DeviceKind) => (id: string | undefined) => {
    void phone.controls.choose(kind, id)
    void trial.again()
  }
  const pickers = [
    picker('microphone', 'Microphone', devices, choose('microphone')),
    picker('camera', 'Camera', devices, choose('camera')),
    picker('speaker', 'Speaker', devices, choose('speaker')),
  ]
  let timer: Timer | undefined
  const step = () => {
    trial.draw()
    timer = trial.isOpen && view.isConnected ? clock.after(66, step) : undefined
  }
  const hint = element(
    'p',
    { class: 'quiet' },
    'Device names appear once you allow the browser to use the devices.',
  )
  const view = group('Audio and video', ...pickers.map((part) => part.element), hint, trial.element)
  return {
    element: view,
    close: () => trial.close(),
    update() {
      for (const part of pickers) part.update()
      show(hint, devices.list('microphone').length === 0)
      if (trial.isOpen && !timer) step()
    },
  }
}

const pushTexts: Readonly<Record<PushState, string>> = {
  unsupported: 'This browser cannot show notifications of this page. Open the page with https.',
  blocked: 'Notifications are blocked. Allow them for this page in the browser settings.',
  off: 'See incoming calls while this page is hidden.',
  working: 'One moment…',
  open: 'You are notified of calls while this page is open, even when it is hidden.',
  always:
    'You are notified of calls even when this page is closed. ' +
    'You stay signed in on this browser until you sign out.',
}

const pushView = (push: BrowserPush): View => {
  const knob = element('span', { class: 'knob' })
  const isOn = () => push.state === 'open' || push.state === 'always'
  const toggle = button(
    { id: 'push', class: 'switch', role: 'switch', 'data-testid': 'push' },
    () => void (isOn() ? push.disable() : push.enable()),
    knob,
  )
  const status = element('p', { class: 'quiet', role: 'status', 'data-testid': 'push-state' })
  const fault = element('p', { class: 'fault', role: 'alert' })
  const closed =
    'You are not notified while this page is closed. ' +
    'For that, the gateway needs push notifications (push.webPush in its configuration).'
  const none = element('p', { class: 'quiet' }, closed)
  return {
    element: group(
      'Notifications',
      element('div', { class: 'switched' }, element('label', { for: 'push' }, 'Notify me of calls'), toggle),
      status,
      none,
      fault,
    ),
    update() {
      toggle.setAttribute('aria-checked', String(isOn()))
      toggle.disabled = ['working', 'unsupported', 'blocked'].includes(push.state)
      status.dataset.state = push.state
      setText(status, pushTexts[push.state])
      show(none, !push.isOffered)
      setText(fault, push.fault ?? '')
      show(fault, push.fault !== undefined)
    },
  }
}

const themeView = ({ current, choose }: SettingsDeps['theme']): HTMLElement => {
  const labels = { system: 'System', light: 'Light', dark: 'Dark' } as const
  const options = Object.entries(labels).map(([value, text]) => {
    const input = element('input', { type: 'radio', name: 'theme', value, checked: value === current })
    input.addEventListener('change', () => choose(value as Theme))
    return element('label', { class: 'option' }, input, element('span', {}, text))
  })
  return group(
    'Appearance',
    element('div', { class: 'options', role: 'radiogroup', 'aria-label': 'Appearance' }, ...options),
  )
}

/** Creates the settings of this browser. */
export const settingsView = (deps: SettingsDeps): View & { close(): void } => {
  const devices = devicesView(deps)
  const push = pushView(deps.push)
  return {
    element: element(
      'section',
      { class: 'page settings', 'aria-label': 'Settings' },
      devices.element,
      push.element,
      themeView(deps.theme),
    ),
    close: () => devices.close(),
    update() {
      devices.update()
      push.update()
    },
  }
}
