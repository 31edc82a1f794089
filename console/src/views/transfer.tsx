import { useState } from 'preact/hooks'
import { plainAddress, readableName } from '../format.ts'
import type { Line } from '../lines.ts'
import { mediaMessage } from '../messages.ts'
import { type Offer, offersOf } from '../offers.ts'
import type { Suggestion } from '../suggestions.ts'
import { dialogTexts } from '../texts/dialogs.ts'
import { texts } from '../texts/language.ts'
import { DestinationBox } from './destination.tsx'
import { resolve } from './dial.tsx'
import { Dialog } from './dialog.tsx'
import { usePage } from './page.ts'
import { Avatar } from './parts.tsx'
import { presenceText } from './people.tsx'

/** Action with the chosen person. */
type Action = 'transfer' | 'ask' | 'add'

/** Properties of {@link Transfer}. */
export interface TransferProps {
  /** Whether the dialog adds a person to the current call, and does not transfer the call. */
  readonly adds: boolean
  readonly close: () => void
}

/** Dialog that transfers the current call, at once or after a call with the target, or adds a person. */
export const Transfer = ({ adds, close }: TransferProps) => {
  const { phone, people } = usePage()
  const [typed, setTyped] = useState('')
  const [chosen, setChosen] = useState<Suggestion | undefined>(undefined)
  const [fault, setFault] = useState('')
  const [line] = useState(phone.current)
  const name = readableName(line?.name ?? '')
  const target = async (): Promise<{ readonly to: string; readonly name: string } | undefined> => {
    if (chosen) return chosen
    const found = await resolve(people, typed.trim(), false)
    if ('fault' in found) setFault(found.fault)
    return 'fault' in found ? undefined : found
  }
  const choose = (found: Suggestion) => {
    setTyped(found.name)
    setChosen(found)
  }
  const run = async (action: Action) => {
    const found = await target()
    if (!found || !line) return
    close()
    if (action === 'ask') void phone.dial(found.to, { name: found.name })
    else void phone.controls[action](line, found.to, found.name)
  }
  return (
    <Dialog
      title={adds ? dialogTexts().addTitle(name) : dialogTexts().transferTitle(name)}
      testId="transfer-dialog"
      close={close}
    >
      {line && <AddedPersons line={line} close={close} />}
      {!adds && line && isOfMany(line) ? (
        <p data-testid="transfer-of-many">{dialogTexts().transferOfMany}</p>
      ) : (
        <form
          class="transfer"
          onSubmit={(event) => {
            event.preventDefault()
            void run(adds ? 'add' : 'transfer')
          }}
        >
          <DestinationBox
            id="transfer-to"
            testId="transfer-to"
            value={typed}
            change={(text) => {
              setTyped(text)
              setChosen(undefined)
              setFault('')
            }}
            choose={choose}
            fault={fault}
          />
          {line && typed === '' && <Offers line={line} choose={choose} />}
          <div class="row end">
            {!adds && (
              <button type="button" class="plain" data-testid="transfer-ask" onClick={() => void run('ask')}>
                {dialogTexts().askFirst}
              </button>
            )}
            <button type="submit" class="primary" data-testid="transfer-now">
              {adds ? dialogTexts().addToCall : dialogTexts().transferNow}
            </button>
          </div>
        </form>
      )}
    </Dialog>
  )
}

/** Properties of {@link Offers}. */
interface OffersProps {
  readonly line: Line
  readonly choose: (offer: Offer) => void
}

/** Likely targets, for a box in which the user has not typed yet. */
const Offers = ({ line, choose }: OffersProps) => {
  const { people, recents, extras, account } = usePage()
  const t = texts.value
  const offers = offersOf({
    people: people.list,
    recents: recents.list,
    presence: (id) => extras?.presence.of(id),
    without: [account.address, line.to, line.number],
    parties: line.call.members.map(({ name: member = '' }) => readableName(member)),
  })
  if (offers.length === 0) return null
  return (
    <ul class="entries offers" aria-label={dialogTexts().offers}>
      {offers.map((offer) => (
        <li key={offer.to} class="entry">
          <button
            type="button"
            class="entry-open"
            data-testid="offer"
            onClick={({ currentTarget }) => {
              // The list disappears with the choice, and the focus with it.
              currentTarget.form?.querySelector('input')?.focus()
              choose(offer)
            }}
          >
            <Avatar name={offer.name} presence={offer.presence} />
            <span class="entry-text">
              <span class="entry-name">{offer.name}</span>
              <span class="quiet one-line">
                {offer.presence ? presenceText(offer.presence, t) : offer.number || plainAddress(offer.to)}
              </span>
            </span>
          </button>
        </li>
      ))}
    </ul>
  )
}

/** Whether a call has more than two parties; such a call cannot be transferred. */
const isOfMany = ({ call: { members } }: Line): boolean =>
  members.filter(({ type }) => type !== 'screen').length > 2

/** Properties of {@link AddedPersons}. */
interface AddedPersonsProps {
  readonly line: Line
  readonly close: () => void
}

/** Buttons that remove the persons that this page has added to a call. */
const AddedPersons = ({ line: { call }, close }: AddedPersonsProps) => {
  const { phone } = usePage()
  const added = call.members.filter(({ removable, type }) => removable && type !== 'screen')
  const remove = (memberId: string) => {
    close()
    call.removeMember({ memberId }).catch((error: unknown) => phone.warn(() => mediaMessage(error)))
  }
  if (added.length === 0) return null
  return (
    <div class="row">
      {added.map(({ member_id: id, name = '' }) => (
        <button key={id} type="button" class="plain" data-testid="remove-person" onClick={() => remove(id)}>
          {dialogTexts().removePerson(readableName(name))}
        </button>
      ))}
    </div>
  )
}
