import { useState } from 'preact/hooks'
import { destination, plainAddress, readableName } from '../format.ts'
import type { RecentCall } from '../memory.ts'
import { dialled } from '../people.ts'
import { texts } from '../texts/language.ts'
import { DestinationBox } from './destination.tsx'
import { Icon } from './icon.tsx'
import { Keypad } from './keypad.tsx'
import { type Page, usePage } from './page.ts'
import { Avatar, IconButton } from './parts.tsx'

/** Calls the typed destination. Returns the fault; empty if the call was placed. */
const place = async ({ phone, people }: Page, typed: string, video: boolean): Promise<string> => {
  const t = texts.value
  const where = destination(typed)
  if (where) {
    void phone.dial(where, { video })
    return ''
  }
  if (!typed) return t.wanted
  try {
    const found = await people.find(typed)
    const at = found && dialled(found, video)
    if (!at) return `${t.noMatch(typed)} ${t.wanted}`
    void phone.dial(at, { video, name: found.display_name })
    return ''
  } catch {
    return t.addressBookFailed
  }
}

/** Dial box with suggestions, a dial pad on demand, and the latest parties. */
export const Dial = () => {
  const page = usePage()
  const { phone, ui } = page
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
    const found = await place(page, typed.trim(), video)
    setFault(found)
    if (!found) ui.typed.value = ''
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
      {!padIsOpen && <Latest />}
    </div>
  )
}

const maxLatest = 5

/** Latest parties, to call again with one click. */
const Latest = () => {
  const { recents, phone } = usePage()
  const t = texts.value
  const parties = new Map<string, RecentCall>()
  for (const call of recents.list) {
    const key = plainAddress(call.to)
    if (!parties.has(key)) parties.set(key, call)
  }
  const shown = [...parties.values()].slice(0, maxLatest)
  if (shown.length === 0) return null
  return (
    <section class="latest" aria-label={t.recentCalls}>
      <h3>{t.recentCalls}</h3>
      <ul>
        {shown.map(({ to, name }) => (
          <li key={to}>
            <button
              type="button"
              class="chip"
              aria-label={t.callPerson(readableName(name))}
              onClick={() => void phone.dial(to, { name })}
            >
              <Avatar name={readableName(name)} />
              <span>{readableName(name)}</span>
            </button>
          </li>
        ))}
      </ul>
    </section>
  )
}
