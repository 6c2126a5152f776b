"""Texts in the language of a model, in others, and those that could be either."""

import lzma

import pytest

from conftest import shared
from headspan import conllu
from headspan.model.folder import EMBEDDED, SEGMENTER, read_json
from headspan.text.language import KnownLanguage

SENTENCES = {
    "English": "The council said that it would not close the school before the end of the year.",
    "French": "Le conseil a dit que l'école ne serait pas fermée avant la fin de l'année.",
    "German": "Der Rat hat gesagt, dass die Schule nicht vor dem Ende des Jahres geschlossen wird.",
    "Dutch": "De raad zei dat de school niet voor het einde van het jaar gesloten zou worden.",
    "Spanish": "El consejo dijo que no iba a cerrar la escuela antes del fin de año.",
    "Portuguese": "O conselho disse que a escola não será fechada até o fim do ano, mas ele não foi claro.",
    "Italian": "Il consiglio ha detto che la scuola non sarà chiusa prima della fine dell'anno.",
    "Catalan": "El consell va dir que l'escola no es tancaria amb les obres ni abans de la fi de l'any.",
    "Romanian": "Consiliul a spus că școala nu va fi închisă înainte de sfârșitul anului și că este sigur.",
    "Swedish": "Rådet sade att skolan inte ska stängas före slutet av året, men det är inte säkert.",
    "Danish": "Rådet sagde, at skolen ikke bliver lukket af kommunen, og hun havde ikke hørt om det.",
    "Norwegian": "Rådet sa at skolen ikke blir lukket av kommunen, men hun hadde ikke hørt hva de ble enige om.",
    "Finnish": "Hän sanoi, että koulu ei ole kiinni, mutta se oli vielä auki, kun hän tuli.",
    "Estonian": "Ta ütles, et kool ei ole veel kinni, aga see oli ka siis lahti, kui ta tuli.",
    "Hungarian": "A tanács azt mondta, hogy az iskola nem lesz bezárva, és ez már csak egy hír volt.",
    "Polish": "Rada powiedziała, że szkoła nie będzie zamknięta, ale to jest tylko plan na ten rok.",
    "Czech": "Rada řekla, že škola se nebude zavírat, ale jako vždy to není jisté, když je nová.",
    "Slovak": "Rada povedala, že škola sa nebude zatvárať, ale ako vždy to nie je isté, keď je nová.",
    "Slovenian": "Svet je povedal, da se šola ne bo zaprla, ker so učenci tudi še pri pouku in je mirno.",
    "Croatian": "Vijeće je reklo da se škola neće zatvoriti, ali to nije sigurno jer su planovi već gotovi.",
    "Lithuanian": "Taryba sakė, kad mokykla nėra uždaryta, bet tai buvo tik planas, kaip ir anksčiau.",
    "Latvian": "Padome teica, ka skola nav slēgta, bet tas bija tikai plāns, un par to vēl runās.",
    "Turkish": "Kurul, okulun yıl sonuna kadar açık olduğunu söyledi, ama bu çok zor bir karar gibi.",
    "Indonesian": "Dewan mengatakan bahwa sekolah itu tidak akan ditutup pada tahun ini dan untuk yang lain.",
    "Vietnamese": "Hội đồng nói rằng trường học sẽ không đóng cửa và tôi cũng không biết khi nào.",
    "Bulgarian": "Съветът каза, че училището няма да се затвори до края на годината.",
    "Russian": "Совет сказал, что школа не будет закрыта до конца года, но это ещё не всё.",
    "Ukrainian": "Рада сказала, що школа не буде закрита до кінця року, але це ще не все.",
    "Serbian": "Савет је рекао да се школа неће затворити, али то није сигурно.",
    "Greek": "Το συμβούλιο είπε ότι το σχολείο δεν θα κλείσει πριν από το τέλος του έτους.",
    "Arabic": "قال المجلس إن المدرسة لن تغلق قبل نهاية هذا العام، ولكن ذلك ليس مؤكدا في كل الأحوال.",
    "Persian": "شورا گفت که این مدرسه تا پایان سال بسته نمی شود و برای آن برنامه ای دارد.",
    "Hebrew": "המועצה אמרה שבית הספר לא ייסגר לפני סוף השנה.",
    "Hindi": "परिषद ने कहा कि स्कूल साल के अंत से पहले बंद नहीं होगा।",
    "Thai": "สภากล่าวว่าโรงเรียนจะไม่ปิดก่อนสิ้นปี",
    "Chinese": "委员会表示，学校在年底之前不会关闭。",
    "Japanese": "評議会は、年末までに学校を閉鎖しないと述べた。",
    "Korean": "위원회는 연말 전에 학교를 닫지 않을 것이라고 말했다.",
    "Georgian": "საბჭომ თქვა, რომ სკოლა წლის ბოლომდე არ დაიხურება.",
}  # fmt: skip


@pytest.fixture(scope="module")
def english() -> KnownLanguage:
    return KnownLanguage(read_json(EMBEDDED / "en", SEGMENTER)["words"])


@pytest.mark.parametrize("language", SENTENCES)
def test_a_sentence_in_another_language_is_recognised(
    language: str, english: KnownLanguage
) -> None:
    expected = None if language == "English" else language
    assert english.foreign(SENTENCES[language]) == expected
    assert english.foreign(SENTENCES[language].upper()) == expected


@pytest.mark.parametrize(
    "text",
    [
        "",
        "...",
        "1 2 3 4 5 6 7 8 9 10 11 12",
        "Bonjour !",
        "你好 means hello.",
        "THE QUICK BROWN FOX JUMPS OVER THE LAZY DOG AND THEN IT SLEEPS",
        "lol u r so right tho imo gg brb ttyl omg thx m8 pls no",
        "for i in range(10): print(i, end=''); de = la[i] if la else None; os.path.join(a, b)",
        "sudo apt-get install libssl-dev zlib1g-dev cmake ninja-build && make -j4 install",
        "Smith, J. A., Müller, K. H., de Vries, P. and Núñez, L. (2019). Phys. Rev. D 12, 3-4.",
        "Angela Merkel, Emmanuel Macron, Mateusz Morawiecki, Pedro Sánchez, Viktor Orbán",
        "ΔG = −RT ln K, where α, β and γ are constants of the reaction",
        "He called it the je ne sais quoi of the place, and we all had to laugh with him.",
        "She wrote 委员会表示学校不会关闭 on the board, and nobody could read what it said.",
        "𝗧𝗵𝗶𝘀 𝗶𝘀 𝘄𝗿𝗶𝘁𝘁𝗲𝗻 𝗶𝗻 𝗯𝗼𝗹𝗱 𝗺𝗮𝘁𝗵𝗲𝗺𝗮𝘁𝗶𝗰𝗮𝗹 𝗹𝗲𝘁𝘁𝗲𝗿𝘀",
        f"{SENTENCES['English']} {SENTENCES['French']} {SENTENCES['English']}",
        f"{SENTENCES['English']} {SENTENCES['Chinese']}",
        "We flew from Los Angeles to Las Vegas, then La Jolla, El Paso and Los Alamos.",
        "Robert De Niro, Oscar de la Renta and El Greco walked into a bar.",
        "Directed by Guillermo del Toro, starring Benicio del Toro and Penelope de la Cruz",
        "The Tour de France, Notre Dame, La Traviata, Il Trovatore, Le Monde and Le Figaro",
        "Operas tonight: Die Fledermaus; Der Ring des Nibelungen; Das Rheingold.",
        "SELECT de, la FROM el WHERE de > 3 AND la < 4;",
    ],
)
def test_what_may_be_english_is_not_foreign(text: str, english: KnownLanguage) -> None:
    assert english.foreign(text) is None


def test_letters_of_an_unknown_language_are_named_by_their_script(english: KnownLanguage) -> None:
    assert english.foreign("Мектеп жабылмайды") == "Cyrillic"
    assert english.foreign("Школа") is None  # too short


def test_a_model_knows_its_own_language_and_those_close_to_it() -> None:
    norwegian = KnownLanguage(
        "og i å det er en som på til av for at med de har ikke den et om han var jeg fra men vi "
        "seg så ble kan skal hun etter eller også når ved ut blir hva være bli hadde".split()
        + [f"ord{k}" for k in range(80)]
    )
    assert norwegian.foreign(SENTENCES["Norwegian"]) is None
    assert norwegian.foreign(SENTENCES["Danish"]) is None
    assert norwegian.foreign(SENTENCES["English"]) == "English"


def test_a_model_of_single_characters_knows_its_script() -> None:
    chinese = KnownLanguage([chr(0x4E00 + k) for k in range(200)])
    assert chinese.foreign(SENTENCES["Chinese"]) is None
    assert chinese.foreign(SENTENCES["English"]) == "English"
    assert chinese.foreign(SENTENCES["Japanese"]) == "Japanese"


def test_a_model_that_knows_few_words_says_nothing() -> None:
    assert KnownLanguage(["the", "dog"]).foreign(SENTENCES["French"]) is None
    assert KnownLanguage([]).foreign(SENTENCES["Chinese"]) is None


TREEBANKS = {
    "French": "open/fr_sequoia/fr_sequoia-ud-dev.conllu",
    "Portuguese": "open/pt_bosque/pt_bosque-ud-dev.conllu",
    "Dutch": "ud-2.2/nl_alpino/nl_alpino-ud-dev.conllu",
    "Turkish": "open/tr_boun/tr_boun-ud-dev.conllu",
    "Czech": "ud-2.2/cs_cltt/cs_cltt-ud-dev.conllu",
    "German": "ud-2.2/de_gsd/de_gsd-ud-dev.conllu",
    "Bulgarian": "ud-2.2/bg_btb/bg_btb-ud-dev.conllu",
}


@pytest.mark.parametrize("language", TREEBANKS)
def test_treebanks_of_other_languages_are_foreign(language: str, english: KnownLanguage) -> None:
    texts = sentences(TREEBANKS[language])
    tens = [" ".join(texts[k : k + 10]) for k in range(0, len(texts), 10)]
    recognised = sum(english.foreign(text) == language for text in tens)
    assert recognised >= 0.95 * len(tens)


@pytest.mark.parametrize(
    "path",
    ["ud-2.16/en_ewt/en_ewt-ud-dev.conllu", "open/en_gum_open/en_gum_open-ud-dev.conllu"],
)
def test_sentences_of_english_treebanks_are_not_foreign(path: str, english: KnownLanguage) -> None:
    foreign = [text for text in sentences(path) if english.foreign(text)]
    assert set(foreign) <= {"A la guerre c'est comme a la guerre!"}


def test_documents_of_all_genres_are_not_foreign(english: KnownLanguage) -> None:
    for path in sorted(shared("text/en").glob("*.txt.xz")):
        with lzma.open(path, "rt", encoding="utf-8") as file:
            documents = file.read().split("\n\n")
        for document in documents[:100]:
            assert english.foreign(document[:4000]) is None, (path.name, document[:80])
            assert english.foreign(document[:4000].upper()) is None, (path.name, document[:80])


def sentences(path: str) -> list[str]:
    return [str(sentence.comment("text")) for sentence in conllu.read(shared(f"treebanks/{path}"))]
