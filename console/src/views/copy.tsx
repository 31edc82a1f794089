import { useState } from 'preact/hooks'
import { laterTexts } from '../texts/later.ts'
import { Icon } from './icon.tsx'

/** Button that copies an address. Browsers allow it only on secure pages; elsewhere it shows the address. */
export const CopyButton = ({ text }: { readonly text: string }) => {
  const [done, setDone] = useState<string | undefined>(undefined)
  const copy = () => {
    const written = navigator.clipboard?.writeText(text) ?? Promise.reject(new Error('no clipboard'))
    void written.then(
      () => setDone(laterTexts().copied),
      () => setDone(text),
    )
  }
  return (
    <button type="button" class="menu-item" data-testid="copy-address" onClick={copy}>
      <Icon name="copy" />
      <span aria-live="polite">{done ?? laterTexts().copyAddress}</span>
    </button>
  )
}
