import { useState } from 'preact/hooks'
import { destination } from '../format.ts'
import { dialled, type People } from '../people.ts'
import { texts } from '../texts/language.ts'
import { DestinationBox } from './destination.tsx'
import { Icon } from './icon.tsx'
import { lazy } from './lazy.tsx'
import { usePage } from './page.ts'
import { IconButton } from './parts.tsx'

const Latest = lazy(() => import('./recents.tsx'), 'Latest')
const Keypad = lazy(() => import('./keypad.tsx'), 'Keypad')

/** Destination of a typed text, or the fault in it. */
export type Resolved = { readonly to: string; readonly name: string } | { readonly fault: string }

/** Finds the destination of a typed address, number, SIP URI or name of the address book. */
export const resolve = async (people: People, typed: string, video: boolean): Promise<Resolved> => {
  const t = texts.value
  const where = destination(typed)
  if (where) return { to: where, name: where }
  if (!typed) return { fault: t.wanted }
  try {
    const found = await people.find(typed)
    const to = found && dialled(found, video)
    return to ? { to, name: found.display_name } : { fault: `${t.noMatch(typed)} ${t.wanted}` }
  } catch {
    return { fault: t.addressBookFailed }
  }
}

/** Dial box with suggestions, a dial pad on demand, and the latest parties. */
export const Dial = () => {
  const { phone, ui, people } = usePage()
  const [padIsOpen, setPad] = useState(false)
  const [fault, setFault] = useState('')
  const t = texts.value
  const typed = ui.typed.value
  const change = (text: string) => {
    ui.typed.value = text
    setFault('')
  }
  const blocked = phone.isBusy || phone.connection !== 'connected'
  const call = async (video: boolean) => {
    if (blocked) return
    const found = await resolve(people, typed.trim(), video)
    if ('fault' in found) return setFault(found.fault)
    setFault('')
    ui.typed.value = ''
    await phone.dial(found.to, { name: found.name, video })
  }
  return (
    <div class="dial-page">
      <form
        class="dial"
        onSubmit={(event) => {
          event.preventDefault()
          void call(false)
        }}
      >
        <h2>{t.newCall}</h2>
        <div class="dial-row">
          <DestinationBox
            id="to"
            testId="dial-to"
            value={typed}
            change={change}
            choose={({ to, name }) => {
              ui.typed.value = ''
              void phone.dial(to, { name })
            }}
            fault={fault}
          >
            {padIsOpen && typed && (
              <IconButton
                icon="erase"
                label={t.deleteLast}
                press={() => change(typed.slice(0, -1))}
                class="in-box second"
              />
            )}
            <IconButton
              icon="keypad"
              label={padIsOpen ? t.hideKeypad : t.showKeypad}
              expanded={padIsOpen}
              press={() => setPad(!padIsOpen)}
              testId="dial-pad"
              class="in-box"
            />
          </DestinationBox>
          <IconButton
            icon="camera"
            label={t.videoCall}
            press={() => void call(true)}
            disabled={blocked}
            testId="dial-video"
            class="outlined"
          />
          <button type="submit" class="primary" disabled={blocked} data-testid="dial">
            <Icon name="pickup" />
            {t.call}
          </button>
        </div>
        {padIsOpen && <Keypad press={(key) => change(typed + key)} testId="dial-key" />}
      </form>
      {!padIsOpen && !ui.wide.value && <Latest />}
    </div>
  )
}
