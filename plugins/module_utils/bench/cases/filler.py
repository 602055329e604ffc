# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Text that fills a prompt to its length: a logbook of plain sentences, the same for every request.

Its words say nothing that an answer depends on; they are our own, so that no model has read them before. Filler is
counted in words in English and in characters in Chinese, the units in which it can be cut.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

_ENGLISH = (
    "The gauge at the weir stood at {a} centimetres in the morning and {b} at dusk.",
    "A carpenter came by boat and looked at the north door, which sticks when the wind turns.",
    "Of {b} lamps on the landing stage {a} were lit; the others wait for glass.",
    "The baker left {a} loaves and asked for two empty flour sacks in return.",
    "We oiled the winch, tightened the chain and wrote the date on its cover.",
    "Two herons stood in the shallow water below the bridge for most of the afternoon.",
    "The pump ran for {a} minutes, stopped by itself, and ran again after a knock.",
    "A teacher brought {b} children, who counted the steps and disagreed about the number.",
    "The letter about the new rope has not been answered; a second one went out today.",
    "Rain was heard on the roof before it was seen on the river.",
    "The glazier measured the small window twice and found {a} millimetres less the second time.",
    "The red boat is dry again; its planks were tarred on both sides.",
    "Somebody had left an umbrella in the waiting room, dark green, with a wooden handle.",
    "The clock in the hall was put forward by {b} minutes, as the postman proposed.",
    "The gardener planted {a} willows along the bank and promised to come back in spring.",
    "At noon the wind was from the west, strong enough to close the shutters.",
    "The carpenter came again and planed the north door; it closes now without a push.",
    "Coal for {b} days lies in the shed, and the path to it was swept.",
    "A fisherman reported a loose buoy near the third pier and tied it up himself.",
    "The well was opened, its water smelled of iron, and a sample was sent to town.",
    "In the evening the ferryman played the accordion, and three guests stayed longer than planned.",
    "The inventory lists {a} buckets, of which one has no handle.",
    "A mason filled the crack beside the stairs and asked that nobody lean there until Sunday.",
    "The sluice was raised by {a} turns and lowered by {b} when the barge had passed.",
)
_CHINESE = (
    "早上水堰的水尺是{a}厘米,傍晚是{b}厘米。",
    "木匠乘船来看北门,风向一变它就关不上。",
    "码头的{b}盏灯里有{a}盏亮着,其余的等着换玻璃。",
    "面包师留下{a}个面包,换走了两只空面粉袋。",
    "绞盘上了油,链条收紧,日期写在盖子上。",
    "两只苍鹭在桥下的浅水里站了大半个下午。",
    "水泵转了{a}分钟自己停下,敲了一下又转起来。",
    "老师带来{b}个孩子,他们数台阶,数目各不相同。",
    "关于新缆绳的信还没有回音,今天又寄出一封。",
    "屋顶先听见雨声,河面后看见雨点。",
    "玻璃匠把小窗量了两遍,第二遍少了{a}毫米。",
    "红船已经干透,船板两面都刷了焦油。",
    "有人把一把深绿色的伞忘在候船室,伞柄是木头的。",
    "大厅的钟按邮差的建议拨快了{b}分钟。",
    "园丁在岸边种下{a}棵柳树,答应春天再来。",
    "中午刮西风,大得能把百叶窗关上。",
    "木匠又来刨了北门,现在不用推也能关上。",
    "棚里还有够烧{b}天的煤,通往那里的小路扫过了。",
    "渔夫说第三个桥墩旁的浮标松了,并亲手把它系牢。",
    "打开水井,水有铁味,取了样品送到城里。",
    "晚上船工拉手风琴,三位客人比原计划多留了一会儿。",
    "清单上有{a}只水桶,其中一只没有提手。",
    "石匠补好楼梯边的裂缝,请大家星期天以前不要靠在那里。",
    "水闸升了{a}圈,驳船过后又降了{b}圈。",
)


# A case asks for the same few sizes for each of its requests, some of them while the clock runs.
@lru_cache(maxsize=64)
def filler(language: str, size: int) -> str:
    """So many words (English) or characters (Chinese) of the logbook, the same ones each time."""
    if language == "zh":
        return _pieces(_CHINESE, size, len, "")[:size]
    text = _pieces(_ENGLISH, size, _words, " ")
    return " ".join(text.split()[:size])


def size_of(language: str, text: str) -> int:
    """The size of a text in the units of the filler."""
    return len(text) if language == "zh" else _words(text)


def _words(text: str) -> int:
    return len(text.split())


def _pieces(sentences: tuple[str, ...], size: int, measure: Callable[[str], int], glue: str) -> str:
    """Entries until there is enough; the numbers differ from round to round, so that no stretch repeats itself."""
    found: list[str] = []
    have = 0
    number = 0
    while have < size:
        sentence = sentences[number % len(sentences)]
        turn = number // len(sentences)
        text = sentence.format(a=3 + (number * 7 + turn * 5) % 41, b=11 + (number * 13 + turn * 3) % 53)
        if number % len(sentences) == 0:
            text = _day(turn + 1, glue) + glue + text
        found.append(text)
        have += measure(text)
        number += 1
    return glue.join(found)


def _day(day: int, glue: str) -> str:
    return f"Day {day}." if glue else f"第{day}天。"
