import { applyLanguage, keepLanguage, type LanguageChoice, languageChoice, texts } from '../texts/language.ts'

/** Choice of the language. */
export const LanguageSelect = ({ id }: { readonly id: string }) => {
  const t = texts.value
  const choose = (choice: LanguageChoice) => {
    keepLanguage(localStorage, choice)
    void applyLanguage(choice, navigator.languages)
  }
  return (
    <select
      id={id}
      data-testid={id}
      defaultValue={languageChoice(localStorage)}
      onChange={({ currentTarget }) => choose(currentTarget.value as LanguageChoice)}
    >
      <option value="system">{t.languageOfBrowser}</option>
      {/* Languages are named in themselves. */}
      <option value="en" lang="en">
        {'English'}
      </option>
      <option value="de" lang="de">
        {'Deutsch'}
      </option>
    </select>
  )
}
