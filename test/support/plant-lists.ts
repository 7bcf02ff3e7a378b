/** Names of plants as their languages write them. */
export const PLANTS = {
  German:
    "Gänseblümchen|Weißdorn|Königskerze|Schlüsselblume|Löwenzahn|Maiglöckchen|Geißblatt|Große Brennnessel|Rosa ‘Gruß an Aachen’|Süßkirsche|Wacholder|Bärlauch|Rötliches Fingerkraut|Ähriges Christophskraut|Österreichischer Lein|Übersehener Salbei|Käthchen|Zaunwinde|Herbstzeitlose – weiß|Salix × sepulcralis|Fünffingerkraut|Hüllspelze|Türkenbundlilie|Färberwaid",
  French:
    "Chêne pédonculé|Hêtre|Frêne élevé|Érable champêtre|Œillet des poètes|Fougère mâle|Bruyère|Genêt à balais|Mûrier|Pâquerette|Épicéa|Mélèze|Cèdre|Cyprès|Trèfle blanc|Chèvrefeuille|Châtaignier|Églantier|Pin à crochets|Gueule-de-loup|Pêcher|Réséda|Primevère|Nénuphar|Cœur-de-Marie|Houx|Lys d’été",
  Spanish:
    "Árbol de Júpiter|Castaño|Piñonero|Jazmín|Espino albar|Orégano|Níspero|Plátano|Álamo|Caña|Clavel|Romero|Limón|Azafrán|Ciprés|Tilo de hoja pequeña|Cardo mariano|Madroño|Mejorana|Pimentón|Ñame|Zarzamora|Cañafístula",
  Italian:
    "Lillà|Bambù|Caffè|Rosmarino|Quercia|Tè|Papà di pietra|Erba della città|Salvia|Ciliegio|Varietà rossa|Cedro|Abete|Aloè|Basilico|Pioppo",
  Portuguese:
    "Romã|Macieira|Feijão|Limão|Pêssego|Árvore-de-judas|Açafrão|Jacarandá|Ipê-amarelo|Manjericão|Carvalho|Maçã verde|Girassol|Violeta-africana|Mamão|Sabugueiro|Pinhão|Limões|Coração-de-Maria|Alecrim|Camélia|Orquídea|Hortênsia",
  Danish:
    "Æbletræ|Bøg|Rødgran|Kirsebær|Mælkebøtte|Blåbær|Hvidtjørn|Løvetand|Påskelilje|Røn|Brændenælde|Hæg|Skovjordbær|Ahorn|Rødkløver|Blå anemone|Tørst|Gråris|Øret pil",
  Norwegian:
    "Bjørk|Blåbær|Løvetann|Fjellmarikåpe|Tyttebær|Rødkløver|Hvitveis|Gråor|Bøk|Rogn|Blåklokke|Geitrams|Søterot|Nøkkerose|Småtjønnaks|Lønn|Ørevier|Åkersvineblom",
  Swedish:
    "Björk|Blåbär|Lönn|Gråal|Hägg|Häckoxbär|Åkervädd|Vitsippa|Blåklocka|Älgört|Rönn|Kärleksört|Smörblomma|Förgätmigej|Skogsnäva|Ängsklocka|Körsbär|Jordgubbe|Åkertistel",
  Dutch:
    "Hazelaar|Egelantier|Sneeuwklokje|Lelietje-van-dalen|Vuurdoorn|Geïmporteerde roos|Aloë|Orchideeën|Coniferën|Brunfelsia’s|Meidoorn|Poëtennarcis|Kaneelappel|Reuzenbereklauw",
  Finnish:
    "Mänty|Kielo|Päivänkakkara|Leskenlehti|Käenkaali|Vesiheinä|Metsätähti|Lehtotähtimö|Hiirenvirna|Rätvänä|Syysmaitiainen|Särmäkuisma|Pähkinäpensas|Ränsi|Kissankäpälä|Ängelmä|Pihlaja",
  Catalan:
    "Alzina|Roure|Àlber|Pi blanc|Romaní|Farigola|Espígol|Llentiscle|Arboç|Marfull|Fonoll|Gatosa|Avellaner|Lliri|Maduixera|Freixe|Til·ler|Heura|Rosella|Jonça|Còdol|Violer|Camèlia|Clavellina d’aigua",
  Icelandic: "Ilmbjörk|Reyniviður|Fífill|Sóley|Blóðberg|Þúfusteinbrjótur|Melasól|Ætihvönn|Mýrasóley|Gulvíðir|Eyrarrós|Hrafnafífa",
  Czech:
    "Dub letní|Bříza bělokorá|Růže šípková|Kopretina bílá|Jeřáb ptačí|Smrk ztepilý|Třešeň|Švestka|Řebříček|Pampeliška|Sněženka|Měsíček|Heřmánek|Žito|Šeřík|Hloh|Ťuhýk|Fialka|Kosatec žlutý|Vřes|Čekanka",
  Slovak:
    "Dub letný|Breza|Ruža šípová|Jarabina|Smrek|Čerešňa|Slivka|Púpava|Snežienka|Nechtík|Rumanček|Ľalia|Šípka|Žihľava|Ďatelina|Vŕba|Hrachor|Mäta|Kôpor|Jabloň",
  Polish:
    "Dąb szypułkowy|Brzoza|Róża dzika|Jarząb|Świerk|Mięta|Śliwa|Jęczmień|Pęcherznica|Żonkil|Wiąz|Źdźbło|Krwawnik|Łubin|Jaśmin|Kasztanowiec biały|Topinambur|Konwalia|Sosna|Głóg|Pięciornik gęsi",
  Hungarian:
    "Tölgy|Nyírfa|Vadrózsa|Fűzfa|Gyöngyvirág|Kőris|Szőlő|Tűlevelű|Körtefa|Bükk|Hóvirág|Nefelejcs|Ibolya|Pipacs|Erdőszéli|Hársfa|Mezei szarkaláb|Kökörcsin|Tündérrózsa|Cickafark|Boróka|Zöldség",
  Romanian:
    "Stejar|Mesteacăn|Măceş|Ghiocel|Păpădie|Trandafir|Fag|Sânziene|Brânduşă|Viţă|Arţar|Muşeţel|Salcie|Tei|Brad|Lăcrămioare|Cireş|Gălbenele|Mărgăritar|Măr pădureţ",
  Slovene:
    "Hrast|Breza|Češnja|Rožmarin|Žajbelj|Šmarnica|Vijolica|Zvonček|Rdeča detelja|Črni bezeg|Smreka|Jelša|Grašica|Kopriva|Sončnica|Žafran",
  Croatian:
    "Hrast lužnjak|Breza|Trešnja|Ružmarin|Kadulja|Đurđica|Ljubičica|Visibaba|Smrča|Šafran|Jabuka|Božur|Čempres|Žalfija|Kućica|Vrijesak|Maćuhica",
  Turkish:
    "Meşe|Huş ağacı|Kuşburnu|Papatya|Ihlamur|Söğüt|Çınar|Kızılcık|Karanfil|Gül|Şimşir|Üzüm|İncir|Nergis|Zambak|Sümbül|Kavak|Çiğdem|Ardıç|Lâle",
  Lithuanian:
    "Ąžuolas|Beržas|Pušis|Eglė|Liepa|Bijūnas|Ramunė|Žibuoklė|Kadagys|Šermukšnis|Drebulė|Gluosnis|Erškėtis|Pakalnutė|Pūkenė|Aviečių|Lelija|Tulpė|Čiobrelis",
  Latvian:
    "Ozols|Bērzs|Priede|Egle|Kļava|Ābele|Vītols|Pīlādzis|Kastaņa|Roze|Maijpuķīte|Pienene|Ķimenes|Ģerānija|Žodzenes|Čūskulis|Šķidrenes|Liepa|Pūpols|Zilenīte|Ērkšķoga",
  Estonian:
    "Tamm|Kask|Mänd|Kuusk|Pärn|Õunapuu|Võilill|Kõrvits|Sõnajalg|Põldohakas|Ülane|Käopõll|Maikelluke|Jõhvikas|Ängelhein|Šampinjon|Nõges|Pöök",
  Esperanto: "Kverko|Ŝaŭmo|Ĉerizarbo|Rozo|Ĝardena violo|Aŭtuna koliko|Ĵasmeno|Betulo|Saliko|Ĥrizantemo|Juniperujo|Ŝlosilfloro",
  Russian:
    "Дуб|Берёза|Роза|Ромашка|Ель обыкновенная|Сосна|Клён|Липа|Ива|Шиповник|Подснежник|Ландыш|Одуванчик|Сирень|Черёмуха|Рябина|Мята перечная|Хна|Фиалка|Лук",
  Ukrainian:
    "Дуб|Береза|Троянда|Ялина|Сосна|Калина|Верба|Липа|Підсніжник|Конвалія|Бузок|Черемха|Горобина|Їжача|Мʼята".replace("ʼ", "") +
    "|Волошка|Мальва|Любисток|Євшан|Ґава",
  Bulgarian: "Дъб|Бреза|Роза|Смърч|Бор|Явор|Липа|Върба|Шипка|Кокиче|Момина сълза|Люляк|Глухарче|Теменуга|Мащерка|Жълт кантарион|Ясен",
  Greek: "Βελανιδιά|Τριανταφυλλιά|Ελιά|Πεύκο|Κυπαρίσσι|Δάφνη|Ρίγανη|Θυμάρι|Αμυγδαλιά|Πλάτανος|Ιτιά|Λεβάντα|Φασκόμηλο|Κρίνος|Μυρτιά|Άνηθος",
  Hebrew: "אלון|ורד|זית|אורן|ברוש|לבנדר|רוזמרין|מרווה|תאנה|רימון|כלנית|רקפת|נרקיס|שקד",
  Arabic: "ورد|زيتون|بلوط|نعناع|ياسمين|صنوبر|سرو|نخيل|تين|رمان|إكليل الجبل|أقحوان|خزامى|زعتر",
  Thai: "กุหลาบ|มะลิ|บัว|มะม่วง|กล้วยไม้|ชบา|ทุเรียน|ไผ่|สัก|ดาวเรือง|เข็ม|ราชพฤกษ์",
  Vietnamese: "Hoa hồng|Tre|Hoa sen|Lúa|Cây đa|Hoa mai|Bưởi|Chuối|Hoa lan|Phượng vĩ|Dừa|Mít|Ổi|Xoài|Cúc vạn thọ|Bằng lăng",
  Japanese: "桜|梅|菊|松|竹|バラ|チューリップ|ヒマワリ|もみじ|藤|蘭|アジサイ|百合|椿|スミレ|つつじ|薔薇|柳",
  Korean: "장미|소나무|무궁화|진달래|개나리|벚나무|은행나무|단풍나무|민들레|국화|백합|동백나무|칡|철쭉|매화|수국|참나무|해바라기",
  Chinese: "玫瑰|松树|梅花|牡丹|菊花|竹子|荷花|桂花|银杏|柳树|兰花|茶树|水仙|月季|枫树|槐树|杜鹃|海棠|百合",
  Traditional: "玫瑰|松樹|梅花|牡丹|菊花|竹子|荷花|桂花|銀杏|柳樹|蘭花|茶樹|水仙|月季|楓樹|槐樹|杜鵑|海棠|百合|龍眼",
} as const satisfies Readonly<Record<string, string>>;

export type Language = keyof typeof PLANTS;

const WESTERN = [
  "German",
  "French",
  "Spanish",
  "Italian",
  "Portuguese",
  "Danish",
  "Norwegian",
  "Swedish",
  "Dutch",
  "Finnish",
  "Catalan",
] as const;
const CENTRAL = ["Czech", "Slovak", "Polish", "Hungarian", "Romanian", "Slovene", "Croatian"] as const;
const BALTIC = ["Lithuanian", "Latvian", "Estonian"] as const;
const CYRILLIC = ["Russian", "Ukrainian", "Bulgarian"] as const;

/** Which of them are written in an encoding. */
export const LANGUAGES: Readonly<Record<string, readonly Language[]>> = {
  "utf-8": Object.keys(PLANTS) as Language[],
  "utf-16le": Object.keys(PLANTS) as Language[],
  "utf-16be": Object.keys(PLANTS) as Language[],
  "windows-1252": [...WESTERN, "Icelandic"],
  "iso-8859-15": ["Finnish", "Estonian", "French"],
  macintosh: WESTERN,
  cp437: WESTERN,
  cp850: WESTERN,
  cp852: CENTRAL,
  "windows-1250": CENTRAL,
  "iso-8859-2": CENTRAL,
  "iso-8859-16": ["Romanian", "Polish", "Hungarian"],
  "windows-1257": BALTIC,
  "iso-8859-13": BALTIC,
  "iso-8859-4": BALTIC,
  "iso-8859-10": ["Lithuanian", "Estonian", "Icelandic"],
  "windows-1254": ["Turkish"],
  "iso-8859-3": ["Esperanto"],
  "windows-1251": CYRILLIC,
  "koi8-r": ["Russian", "Bulgarian"],
  "koi8-u": CYRILLIC,
  "iso-8859-5": CYRILLIC,
  ibm866: CYRILLIC,
  "x-mac-cyrillic": CYRILLIC,
  "windows-1253": ["Greek"],
  "iso-8859-7": ["Greek"],
  "windows-1255": ["Hebrew"],
  "iso-8859-8": ["Hebrew"],
  "windows-1256": ["Arabic"],
  "iso-8859-6": ["Arabic"],
  "windows-874": ["Thai"],
  "windows-1258": ["Vietnamese"],
  shift_jis: ["Japanese"],
  "euc-jp": ["Japanese"],
  "iso-2022-jp": ["Japanese"],
  "euc-kr": ["Korean"],
  gb18030: ["Chinese"],
  big5: ["Traditional"],
};
